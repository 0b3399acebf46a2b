"""Made-up people in tables: one of which it is known what it gives away, others that are nasty."""

import numpy as np

from optional_libraries import pandas as pd


def made_up_people(n=700, seed=0):
    """Sex shows in means (`height`), race in spreads (`a*`, `b*`), `paid` depends on sex.

    `town` is a noisy category that follows race a little; `luck` and `n0` to `n5` follow nothing.
    """
    rng = np.random.default_rng(seed)
    sex = rng.choice(["f", "m"], size=n)
    race = rng.choice(["x", "y", "z"], size=n, p=[0.5, 0.3, 0.2])
    wide = np.select([race == "x", race == "y"], [0.3, 1.0], 3.0)
    a, b = wide * rng.normal(size=n), wide * rng.normal(size=n)
    height = rng.normal(size=n) + 1.5 * (sex == "m")
    town = np.where(rng.random(n) < 0.5, race, rng.choice(["x", "y", "z"], size=n))
    skill = rng.normal(size=n)
    return pd.DataFrame(
        {
            "sex": sex,
            "race": race,
            "height": height,
            **{f"a{i}": a + 0.3 * rng.normal(size=n) for i in range(3)},
            **{f"b{i}": b + 0.3 * rng.normal(size=n) for i in range(3)},
            "town": pd.Series(town).map({"x": "North", "y": "South", "z": "West"}),
            "luck": rng.normal(size=n),
            "skill": skill,
            **{f"n{i}": rng.normal(size=n) for i in range(6)},
            "paid": np.where(skill + 0.8 * height + rng.normal(size=n) > 0.6, "yes", "no"),
        }
    )


def people(n=400, seed=0):
    """Return a table with columns of every kind, and the sex of each row."""
    rng = np.random.default_rng(seed)
    sex = rng.choice(["f", "m"], n)
    age = rng.normal(40, 10, n) + 3 * (sex == "m")
    age[rng.random(n) < 0.05] = np.nan
    frame = pd.DataFrame(
        {
            "age": age,
            "owner": rng.random(n) < 0.5,
            "job": rng.choice(["nurse", "cook", "smith"], n),
            "town": rng.choice(["a", "b", None], n),
            "born": pd.Timestamp("1980-01-01")
            + pd.to_timedelta(rng.integers(0, 9000, n), unit="D"),
            "note": [f"word{i % 97} and {i % 89}" for i in range(n)],
            '<script>"\\ü': rng.integers(0, 9, n),
        }
    )
    return frame, sex


def messy(n=500, seed=0):
    """Return a table of all kinds of columns, many of them with holes."""
    rng = np.random.default_rng(seed)
    when = pd.Timestamp("2019-03-01") + pd.to_timedelta(rng.integers(0, 9e7, n), unit="s")

    def holes(values, share=0.1):
        return pd.Series(values).mask(rng.random(n) < share)

    return pd.DataFrame(
        {
            "age": rng.integers(18, 90, n),
            "income": holes(rng.lognormal(10, 1, n)),
            "ratio": np.where(rng.random(n) < 0.05, np.inf, rng.normal(size=n)),
            "member": rng.random(n) < 0.4,
            "nullable": pd.array(rng.integers(0, 9, n), dtype="Int64"),
            "as text": holes(rng.integers(0, 99, n).astype(str)),
            "mixed": [i % 5 if i % 2 else f"code {i % 7}" for i in range(n)],
            "sex": rng.choice(["f", "m"], n),
            "job": holes(rng.choice(["cook", "nurse", "smith", " cook "], n)),
            "declared": pd.Categorical(rng.integers(0, 4, n), categories=range(6)),
            "born": when.strftime("%d/%m/%Y"),
            "seen": holes(when, 0.2),
            "zoned": when.tz_localize("UTC").tz_convert("Europe/Paris"),
            "name": holes([f"person {i * 7919 % 301} müller" for i in range(n)]),
            "🙂 <b>": rng.choice(["α", "β", "γ", "?"], n),
            "constant": 1,
            "empty": None,
        }
    )


def nasty_csv(n=10_000, seed=0):
    """Return the text of a file with all that is wrong in files, and a group of three rows."""
    rng = np.random.default_rng(seed)
    group = rng.choice(["α", "β, or γ", 'the "other"'], n).astype(object)
    group[:3] = "tiny"
    lines = ["id,group,mixed,mixed,größe,constant,empty,free text,<script>alert(1)</script>,y"]
    for i in range(n):
        mixed = ["1", "x", "", "NaN", "2.5"][rng.integers(5)]
        cells = [f"{i * 7919 % 99_991:06x}", group[i], mixed, i % 7, rng.normal(), 1, ""]
        cells += [f"words {rng.integers(n)} 🙂", "?" if i % 3 else "<b>", rng.integers(2)]
        quoted = ['"' + str(cell).replace('"', '""') + '"' for cell in cells]
        lines.append(",".join(quoted))
    return "\r\n".join(lines) + "\r\n"


EXPECTED_KINDS = {
    **dict.fromkeys(["age", "income", "ratio", "member", "nullable", "as text"], "numeric"),
    **dict.fromkeys(["mixed", "sex", "job", "declared", "🙂 <b>"], "category"),
    **dict.fromkeys(["born", "seen", "zoned"], "date"),
    "name": "text",
    "constant": "constant",
    "empty": "empty",
}
