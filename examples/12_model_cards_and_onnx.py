"""
What is in a saved model, and does it run elsewhere?
====================================================

Numbers and text: a matrix, sums over groups, and what was learned about the columns. There is no
pickle, and a checksum finds a single flipped bit. **Kernel models hold rows of the training data**,
others hold none. The model also runs without fairpca: the ONNX file takes the raw columns and gives
the same numbers.

Needs ``pip install ".[audit,onnx]" matplotlib`` in a checkout.
"""

# %%
# From a table to a file
# ----------------------
# Mortgage applications with numbers, a category and missing values. :func:`fairpca.fit_table`
# learns how to encode the columns as numbers, and then fits fair PCA. Only this step needs race.
import os
import subprocess
import sys
import tempfile
import textwrap
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import onnxruntime
import pandas as pd

import fairpca
from fairpca import FairKernelPCA, FairPCA
from fairpca.datasets import load_loanapp
from fairpca.erasers import LEACE
from fairpca.errors import ModelFileError
from fairpca.models import export_onnx, model_card

loans, loans_new = load_loanapp(split=True)
train, new = (
    part.features.assign(gift=part.features["gift"].map({1: "yes", 0: "no"}))
    for part in (loans, loans_new)
)
train = train.assign(race=loans.sensitive["race"], approved=loans.target)
model = fairpca.fit_table(train, "race", "approved", n_components=15)

scratch = tempfile.TemporaryDirectory()
path = Path(scratch.name) / "model.fairpca"
model.save(path)
print(
    f"{path.stat().st_size:,} bytes, from {len(train):,} rows x {train.shape[1]} columns"
)

# %%
# The loaded model gives the same bits. Loading executes no code from the file.
again = fairpca.load(path)
print("same bits:", np.array_equal(again.transform(new), model.transform(new)))

# %%
# ``fairpca inspect model.fairpca`` checks that a file is complete and prints what it says:
command = [sys.executable, "-m", "fairpca", "inspect", str(path)]
narrow = os.environ | {"COLUMNS": "72"}
said = subprocess.run(
    command, stdout=subprocess.PIPE, text=True, check=True, env=narrow
)
print(said.stdout.rstrip())

# %%
# Loading a file with one damaged bit, anywhere, raises an error:
damaged = bytearray(path.read_bytes())
damaged[len(damaged) // 2] ^= 1
(Path(scratch.name) / "damaged.fairpca").write_bytes(damaged)
try:
    fairpca.load(Path(scratch.name) / "damaged.fairpca")
except ModelFileError as error:
    print(textwrap.fill(str(error).replace(scratch.name, "..."), 72))

# %%
# The model card
# --------------
# ``fairpca fit`` writes it beside the model. Its first half:
card = model_card(model)
for line in card[: card.index("## Numbers")].splitlines():
    print(textwrap.fill(line, 72, subsequent_indent="  "))

# %%
# Which models keep rows of the training data?
# --------------------------------------------
# We look for the bytes of every training row in each file. Linear maps hold sums over rows. A
# kernel needs rows to compare with, all of them or its landmarks; random features need none. Sums
# alone do not guarantee privacy: the mean of a group of one *is* its row.
filled = loans.features.fillna(loans.features.mean())
X = np.ascontiguousarray((filled - filled.mean()) / filled.std())
race = loans.sensitive["race"].to_numpy(str)
families = {
    "FairPCA": FairPCA(10),
    "LEACE": LEACE(),
    "FairKernelPCA, exact": FairKernelPCA(10),
    "FairKernelPCA, Nystroem": FairKernelPCA(
        10, approximation="nystroem", random_state=0
    ),
    "FairKernelPCA, random features": FairKernelPCA(
        10, approximation="random_features", random_state=0
    ),
}
found = []
for name, estimator in families.items():
    fair = estimator.fit(X, sensitive_features=race)
    fairpca.save(fair, path, overwrite=True)
    content = path.read_bytes()
    rows = sum(row.tobytes() in content for row in X)
    found.append(
        {"model": name, "KB": len(content) / 1000, "training rows in the file": rows}
    )
found = pd.DataFrame(found).set_index("model")
print(found.round(0).astype(int).to_string())

# %%
figure, axes = plt.subplots(figsize=(8, 2.6), layout="constrained")
holds = found["training rows in the file"]
bars = axes.barh(found.index, found["KB"], color=["C1" if n else "C0" for n in holds])
axes.bar_label(
    bars, [f"{n:,} of {len(X):,} rows" if n else "no row" for n in holds], padding=3
)
axes.set(xlabel="size of the file in KB", xlim=(0, 1.3 * found["KB"].max()))
axes.set_title("Rows of the training data in a saved model", loc="left", weight="bold")
axes.invert_yaxis()
axes.tick_params(axis="y", length=0)
plt.show()

# %%
# The same numbers without fairpca
# --------------------------------
# The ONNX graph starts at the columns of the table, one input each: numbers, where NaN is missing,
# and texts, where "" is missing. It computes in double precision. On held-out applicants:
expected = model.transform(new)
for dtype in ("float32", "float64"):
    onnx_file = Path(scratch.name) / "model.onnx"
    export_onnx(model, onnx_file, dtype=dtype, overwrite=True)
    session = onnxruntime.InferenceSession(onnx_file)
    columns = {
        entry.name: new[entry.name].fillna("").to_numpy(object)[:, None]
        if entry.type == "tensor(string)"
        else new[entry.name].to_numpy(dtype)[:, None]
        for entry in session.get_inputs()
    }
    (T,) = session.run(None, columns)
    difference = np.abs(T - expected).max() / expected.std()
    print(
        f"{dtype}: {T.shape}, largest difference {difference:.0e} standard deviations"
    )
    assert difference < (1e-5 if dtype == "float32" else 1e-12)
scratch.cleanup()

# %%
# What to take away
# -----------------
# - ``save`` and ``load`` keep every bit and run no code. Damaged files raise an error.
# - Share a kernel model only with people who may have the data, or use random features.
# - A card describes a model on its training data. Measure leakage on held-out data:
#   :doc:`/howto/audit`.
# - ``fairpca export model.fairpca --to onnx`` does the last step from the command line.
#
# How to save, test and export a model: :doc:`/howto/models`. The format: :doc:`/reference/models`.
