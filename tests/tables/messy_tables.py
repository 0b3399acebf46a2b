"""Tables with everything that goes wrong in real ones."""

import numpy as np
import pandas as pd


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
