"""A made-up table of which it is known what it gives away."""

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
