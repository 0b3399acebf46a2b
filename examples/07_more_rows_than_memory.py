"""
How do I fit to more rows than fit into memory?
===============================================

Pass the files instead of the rows: ``FairPCA(10).fit(ParquetRows("people/*.parquet",
sensitive="sex"))``. The result is that of the same rows in memory, and the memory does not grow
with the number of rows. After a crash the same call continues where it was, to the same bits. A fit
needs only counts, means and one matrix, and these add up.
"""

# %%
# Some files
# ----------
# Eight synthetic Parquet files, in a temporary folder, of people with forty measurements. Sex
# shifts some measurements and changes the variance of others.
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from fairpca import FairPCA
from fairpca.io import CSVRows, ParquetRows
from fairpca.metrics import leakage
from fairpca.moments import collect_moments

ROWS, FEATURES, FILES = 50_000, 40, 8
NAMES = [f"x{j:02}" for j in range(FEATURES)]
mixing = np.random.default_rng(0).normal(size=(FEATURES, FEATURES)) / 6


def people(n, seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, FEATURES)) @ mixing
    sex = rng.choice(["f", "m"], size=n)
    X[sex == "m"] += mixing[0]
    X[sex == "m", :3] *= 1.5
    return pd.DataFrame(X.astype(np.float32), columns=NAMES).assign(sex=sex)


scratch = tempfile.TemporaryDirectory()
folder = Path(scratch.name)
for i in range(FILES):
    people(ROWS, seed=i).to_parquet(folder / f"{i}.parquet", row_group_size=20_000)
rows = ParquetRows(folder, sensitive="sex")
print(
    rows,
    f"{sum(f.stat().st_size for f in folder.glob('*.parquet')) / 1e6:.0f} MB on disk",
)

# %%
# The same answer
# ---------------
# Single precision agrees to about seven digits, ``dtype="float64"`` to fifteen. Subspaces are
# compared by their projectors.
fair = FairPCA(10).fit(rows)
table = pd.read_parquet(folder)
for dtype in ("float32", "float64"):
    from_files = FairPCA(10).fit(ParquetRows(folder, sensitive="sex", dtype=dtype))
    in_memory = FairPCA(10).fit(
        table[NAMES].astype(dtype), sensitive_features=table["sex"]
    )
    P, Q = (
        model.components_.T @ model.components_ for model in (from_files, in_memory)
    )
    print(f"{dtype}: largest difference between projectors {np.abs(P - Q).max():.0e}")

# %%
# Peak memory
# -----------
# Linux measures it, in a separate process for each way, beyond what the process held before the
# first fit. Files are read in batches of some 32 MB, several at the same time. So the first few
# files cost that much, and further files nothing. In memory, every file costs its size, and more
# while it is loaded.
MEASURE = """
import re, sys
import numpy as np, pandas as pd
from fairpca import FairPCA
from fairpca.io import ParquetRows

def megabytes(what):
    return int(re.search(what + r":\\s+(\\d+) kB", open("/proc/self/status").read())[1]) / 1024

way, files = sys.argv[1], sys.argv[2:]
X = np.random.default_rng(0).normal(size=(500, 5))
FairPCA(2).fit(X, sensitive_features=np.arange(500) % 2)  # loads what is loaded late
before = megabytes("VmRSS")
for n in (1, 2, 4, 8):
    if way == "files":
        FairPCA(10).fit(ParquetRows(files[:n], sensitive="sex", n_jobs=1))
    else:
        table = pd.concat([pd.read_parquet(file) for file in files[:n]])
        FairPCA(10).fit(table.drop(columns="sex"), sensitive_features=table["sex"])
        del table
    print(megabytes("VmHWM") - before)
"""
peaks, files = {}, sorted(map(str, folder.glob("*.parquet")))
if Path("/proc/self/status").exists():
    for way in ("files", "memory"):
        command = [sys.executable, "-c", MEASURE, way, *files]
        said = subprocess.run(
            command, stdout=subprocess.PIPE, text=True, check=True
        ).stdout
        peaks[way] = [float(line) for line in said.split()]
        print(
            f"{way:7}",
            *(f"{peak:4.0f}" for peak in peaks[way]),
            "MB for 1, 2, 4 and 8 files",
        )
else:
    print(
        "This system does not show the peak memory of a process; nothing was measured."
    )

# %%
figure, axes = plt.subplots(figsize=(7, 3), layout="constrained")
millions = ROWS * np.array([1, 2, 4, 8]) / 1e6
lines = {"the numbers alone": (millions * 4 * FEATURES / 1.048576, "0.4", ":")}
if peaks:
    lines["read all, then fit"] = (peaks["memory"], "C1", "o-")
    lines["ParquetRows"] = (peaks["files"], "C0", "o-")
for label, (megabytes, colour, line) in lines.items():
    axes.plot(millions, megabytes, line, color=colour, linewidth=2)
    place = {"textcoords": "offset points", "va": "center"}
    axes.annotate(label, (millions[-1], megabytes[-1]), (8, 0), color=colour, **place)
axes.set(
    xlabel=f"million rows of {FEATURES} features",
    ylabel="MB",
    xlim=(0, 0.55),
    ylim=(0, None),
)
axes.set_title("Peak memory of a fit", loc="left", weight="bold")
plt.show()

# %%
# Moments that add
# ----------------
# You can keep the moments of each file, day or hospital. From their sum, every number of components
# is solved without reading a row again.
parts = [collect_moments(ParquetRows(file, sensitive="sex"), None) for file in files]
total = sum(parts[1:], start=parts[0])
start = time.perf_counter()
models = {k: FairPCA(k).fit_moments(total) for k in range(1, 39)}
print(
    f"38 fits in {time.perf_counter() - start:.2f} s, from {len(parts)} parts; ", end=""
)
same = np.abs(models[10].components_.T @ models[10].components_ - P).max()
print(f"ten components as before: {same:.0e}")

# %%
# For rows that arrive over time, call ``partial_fit`` batch by batch. For text files, use
# ``CSVRows``.
stream = FairPCA(10)
for batch in np.array_split(np.arange(len(table)), 40):
    stream.partial_fit(
        table[NAMES].iloc[batch], sensitive_features=table["sex"].iloc[batch]
    )
print("stream:", f"{np.abs(stream.components_.T @ stream.components_ - P).max():.0e}")

table[:20_000].to_csv(folder / "people.csv", index=False)
text = collect_moments(CSVRows(folder / "people.csv", sensitive="sex"), None)
same = np.allclose(text.mean, table[NAMES][:20_000].mean(), atol=1e-6)
print("text:  ", f"the same {len(text.mean)} means: {same}")

# %%
# Leakage on held-out data
# ------------------------
# A ninth file:
new = people(4_000, seed=99)
before = leakage(new[NAMES], new["sex"], cv=3, random_state=0)
print(f"as given, linear probe: AUC {before.auc:.2f}")
T_new = fair.transform(new[NAMES])
for probe in ("linear", "boosting"):
    found = leakage(T_new, new["sex"], probe=probe, cv=3, random_state=0)
    chance = found.chance_interval[1]
    print(f"fair, {probe:8} probe: AUC {found.auc:.2f}, chance reaches {chance:.2f}")
scratch.cleanup()

# %%
# The linear probe is down to chance. Trees find the variances, which differ between the groups by
# construction. To equalise them, use ``match="covariances"``, which takes ``ParquetRows``, too.
#
# What to take away
# -----------------
# - Files give the same subspace as rows in memory; memory does not grow with their number.
# - If rows cannot be kept together, keep their moments: they add.
#
# Times on gigabytes: :doc:`/benchmarks`. A cost model, messy columns and clusters:
# :doc:`/howto/scale`. Next: :ref:`sphx_glr_gallery_08_dask.py`.
