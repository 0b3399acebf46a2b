"""People in memory and the same people in files."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from fairpca import FairPCA

FEATURES = [f"x{j}" for j in range(16)]
TOLD = {"target": "hired", "weight": "w", "ignore": "id"}


def people(n=1000, seed=0, dtype="float64", missing=0.1):
    """Return a table with sixteen features, two attributes, a label, a weight and an id."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(rng.normal(size=(n, 16)), columns=FEATURES)
    race = rng.choice(["a", "b", "c"], n).astype(object)
    race[: n // 10] = "only in the first rows"
    age = np.round(rng.uniform(20, 60, n), 1)
    frame["x0"] += race == "a"
    frame["x1"] += age / 10
    frame["x2"] *= 1 + (race == "c")
    frame = frame.astype(dtype)
    age[rng.random(n) < missing] = np.nan
    race[rng.random(n) < missing] = None
    frame["race"], frame["age"] = race, age
    frame["hired"] = rng.integers(0, 2, n)
    frame["w"] = rng.uniform(0, 3, n)
    frame["id"] = [f"person {i}" for i in range(n)]
    return frame


def write_parquet(frame, path, row_group_size=None):
    table = pa.Table.from_pandas(frame, preserve_index=False)
    pq.write_table(table, path, row_group_size=row_group_size)
    return path


def write_in_parts(frame, folder, edges, **how):
    """Write the rows between the edges into files; a repeated edge makes a file without rows."""
    folder.mkdir(exist_ok=True)
    ends = zip([0, *edges], [*edges, len(frame)], strict=True)
    for i, (start, stop) in enumerate(ends):
        write_parquet(frame[start:stop], folder / f"part-{i:03d}.parquet", **how)
    return folder


def fit_in_memory(frame, k=2, *, sensitive=("race", "age"), weighted=True, **options):
    return FairPCA(k, **options).fit(
        frame[FEATURES],
        frame["hired"],
        sensitive_features=frame[list(sensitive)],
        sample_weight=frame["w"] if weighted else None,
    )


def same_bits(a, b):
    """Tell whether two moments are the same to the last bit."""
    pairs = [(a.mean, b.mean), (a.scatter.dense().matrix, b.scatter.dense().matrix)]
    described = [(*m.attributes, *m.targets) for m in (a, b)]
    for x, y in zip(*described, strict=True):
        assert x.name == y.name
        pairs.append((x.total, y.total))
    return all(np.array_equal(x, y) for x, y in pairs) and a.weight == b.weight
