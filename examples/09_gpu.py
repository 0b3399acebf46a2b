"""
What changes on a GPU?
======================

One line, which makes the array: pass a torch or CuPy array, and everything stays on its device,
with ``fit`` and ``transform``. The subspace is the same up to rounding. With many features it takes
less time, because the work is products of matrices.

The code below is the same with and without a GPU: it takes torch or CuPy if the machine has one,
and NumPy otherwise. **The first output says what ran here.** Times of a large GPU, on images of
CelebA's size, are in :doc:`/howto/scale`.
"""

# %%
# The array library
# -----------------
# In order of preference: torch on a GPU, CuPy, torch on the processor, NumPy.
import os
import time

import matplotlib.pyplot as plt
import numpy as np

from fairpca import FairPCA
from fairpca.metrics import leakage
from fairpca.moments import collect_moments


def find_device():
    """Return the best device's name, how arrays get there and back, and how to wait for it."""
    try:
        import torch
    except ImportError:
        torch = None
    if torch is not None and torch.cuda.is_available():
        name = f"torch on {torch.cuda.get_device_name()}"
        wait = torch.cuda.synchronize
        return (
            name,
            lambda X: torch.asarray(X, device="cuda"),
            lambda T: T.cpu().numpy(),
            wait,
        )
    try:
        import cupy

        name = f"CuPy on {cupy.cuda.runtime.getDeviceProperties(0)['name'].decode()}"
        return name, cupy.asarray, cupy.asnumpy, cupy.cuda.Device().synchronize
    except Exception as error:  # installed without a driver, it fails in many ways
        print("No CuPy:", type(error).__name__)
    if torch is not None:
        return (
            "torch on the processor",
            torch.asarray,
            lambda T: T.numpy(),
            lambda: None,
        )
    return "NumPy on the processor", np.asarray, np.asarray, lambda: None


DEVICE, to_device, to_host, wait = find_device()
print(f"What ran here: {DEVICE}, {os.cpu_count()} core(s).")
if "processor" in DEVICE:
    print("This machine has no GPU, so all times below are those of its processor.")

# %%
# The same lines, the same answer
# -------------------------------
# Group labels stay a list or an array of strings. ``components_`` is an array of the library above.
# Sums are always in double precision, and products of single precision never in TF32.
rng = np.random.default_rng(0)
n, d, k = 20_000, 200, 20
sex = rng.choice(["f", "m"], size=n)
X = rng.normal(size=(n, d)) @ rng.normal(size=(d, d)) / np.sqrt(d)
X[sex == "m"] += 0.3 * rng.normal(size=d)
X[sex == "m", :20] *= 1.5

reference = FairPCA(k).fit(X, sensitive_features=sex).components_
for dtype in (np.float64, np.float32):
    there = to_device(X.astype(dtype))
    fair = FairPCA(k).fit(there, sensitive_features=sex)
    U = to_host(fair.components_).astype(float)
    difference = np.abs(U.T @ U - reference.T @ reference).max()
    print(
        f"{dtype.__name__}: {type(fair.components_).__module__.split('.')[0]} array, "
        f"projectors differ by {difference:.0e}, groups by {float(fair.mean_gap_):.0e} std"
    )

# %%
# If the rows are in host memory, ``FairPCA(k, device="cuda")`` sends them to the GPU in blocks, and
# returns NumPy arrays. ``to_device("cuda")`` and ``to_device("cpu")`` move a fitted estimator, and
# :func:`fairpca.save` saves it from any device.
fair.to_device("cpu")
print(type(fair.components_).__name__, "after to_device('cpu')")

# %%
# Where the time goes
# -------------------
# Adding up the rows costs n d² operations and solving d³, on any device. With few features, sending
# the rows to a GPU costs more than it saves.
half, fits = n // 2, {}
for features in (50, 100, 200, 400, 800):
    rows = to_device(rng.normal(size=(half, features)).astype(np.float32))
    best = [np.inf, np.inf]
    for _ in range(3):
        wait()
        clock = [time.perf_counter()]
        moments = collect_moments(rows, sex[:half])
        wait()
        clock.append(time.perf_counter())
        FairPCA(k).fit_moments(moments)
        wait()
        clock.append(time.perf_counter())
        best = np.minimum(best, np.diff(clock))
    fits[features] = best
    print(
        f"{half:,} x {features:3}: rows {1e3 * best[0]:6.1f} ms, solve {1e3 * best[1]:6.1f} ms"
    )

# %%
figure, axes = plt.subplots(figsize=(7, 3), layout="constrained")
rows, solve = 1e3 * np.transpose(list(fits.values()))
axes.plot(list(fits), rows, "o-", color="C0", linewidth=2, label="adding up the rows")
axes.plot(
    list(fits), solve, "s-", color="C3", linewidth=2, label="solving for the subspace"
)
axes.set(xscale="log", yscale="log", xlabel="features", ylabel="milliseconds")
axes.set_xticks(list(fits), [str(features) for features in fits])
axes.minorticks_off()
axes.set_title(f"{half:,} rows, {DEVICE}", loc="left", weight="bold")
axes.legend(loc="upper left")
plt.show()

# %%
# Leakage on held-out data
# ------------------------
# A linear probe finds what sampling error leaves; trees find the variances, which differ by group:
fair = FairPCA(k).fit(to_device(X[:half]), sensitive_features=sex[:half])
T_new = to_host(fair.transform(to_device(X[half:])))[:4000]
for probe in ("linear", "boosting"):
    found = leakage(T_new, sex[half:][:4000], probe=probe, cv=3, random_state=0)
    chance = found.chance_interval[1]
    print(f"{probe:8} probe: AUC {found.auc:.2f}, chance reaches {chance:.2f}")

# %%
# What to take away
# -----------------
# - Make the array on the device; nothing else in your code changes.
# - Time grows with the square and the cube of the number of features. Where the picture above shows
#   milliseconds, a GPU saves nothing.
# - Single precision is enough: the groups' means differ by rounding.
#
# Times on one NVIDIA H200, and ``python -m benchmarks.gpu`` for your own: :doc:`/howto/scale`.
