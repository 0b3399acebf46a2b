"""
Does fair PCA run on Dask, and is it the same?
==============================================

Yes. Call the same ``fit`` with a Dask array or DataFrame. Each partition is summed where it lies,
and only sums of d x d numbers travel. The subspace agrees with that of the rows in memory to 1e-8
or better. ``transform`` is lazy: it returns a collection of the same kind, and computes no row
until it is needed.

Needs ``pip install ".[data,dask]" matplotlib`` in a checkout.
"""

# %%
# A cluster on this machine
# -------------------------
# Two workers, as threads of this process. With ``Client("tcp://scheduler:8786")`` the rest of the
# page would run on your cluster without a change, and without a client on Dask's threads.
import pickle

import dask.dataframe as dd
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from dask.distributed import Client, LocalCluster, get_task_stream

from fairpca import FairPCA
from fairpca.metrics import leakage
from fairpca.moments import collect_moments

HERE = "127.0.0.1"  # Dask's dashboard would otherwise be open to the network
cluster = LocalCluster(
    n_workers=2,
    threads_per_worker=1,
    processes=False,
    protocol="tcp",
    host=HERE,
    dashboard_address=f"{HERE}:0",
    worker_dashboard_address=f"{HERE}:0",
)
client = Client(cluster)
print(f"{len(client.nthreads())} workers")

# %%
# Rows that do not exist yet
# --------------------------
# The frame has eight partitions, and each is made when it is needed. The groups differ in means and
# variances. One group is in the last partition only: no partition needs to know all groups.
PARTS, ROWS, FEATURES = 8, 30_000, 60
mixing = np.random.default_rng(0).normal(size=(FEATURES, FEATURES)) / np.sqrt(FEATURES)


def make(part):
    rng = np.random.default_rng(part)
    group = rng.choice(["a", "b", "c"] if part == PARTS - 1 else ["a", "b"], size=ROWS)
    X = rng.normal(size=(ROWS, FEATURES))
    X[:, :5] *= np.where(group == "a", 1.0, 2.0)[:, None]
    X[:, 0] += 2 * (group == "a")
    return pd.DataFrame(X @ mixing, columns=NAMES).assign(group=group)


NAMES = [f"x{j:02}" for j in range(FEATURES)]
people = dd.from_map(make, range(PARTS))
print(f"{len(people.columns)} columns in {people.npartitions} partitions")

# %%
# The fit, and who did what
# -------------------------
# The attribute is a column of the frame, as labels and weights would be. One task per partition
# adds up its rows. A tree of sums follows, too short to be seen.
with get_task_stream(client) as stream:
    fair = FairPCA(10).fit(people, sensitive_features="group")

figure, axes = plt.subplots(figsize=(8, 1.9), layout="constrained")
lanes = {worker: lane for lane, worker in enumerate(sorted(client.nthreads()))}
began = min(task["startstops"][0]["start"] for task in stream.data)
for word, colour, label in (
    ("make", "0.55", "make the rows"),
    ("fairpca", "C0", "add them up"),
):
    bars = [
        (lanes[task["worker"]], span["start"] - began, span["stop"] - span["start"])
        for task in stream.data
        for span in task["startstops"]
        if str(task["key"]).lstrip("('").startswith(word)
        and span["action"] == "compute"
    ]
    lane, start, length = np.transpose(bars)
    axes.barh(
        lane,
        length,
        left=start,
        height=0.7,
        color=colour,
        edgecolor="white",
        label=label,
    )
axes.set_yticks(list(lanes.values()), [f"worker {lane + 1}" for lane in lanes.values()])
axes.set(xlabel="seconds")
axes.tick_params(axis="y", length=0)
figure.legend(loc="outside upper right", ncols=2)
plt.show()

# %%
# What travels
# ------------
# The sums of a partition do not grow with its rows: d x d numbers, and d per group.
rows = make(0)
moments = collect_moments(rows[NAMES], rows["group"])
print(f"rows of a partition:  {rows[NAMES].to_numpy().nbytes:>12,} bytes")
print(f"what leaves a worker: {len(pickle.dumps(moments)):>12,} bytes")

# %%
# The same answer
# ---------------
# For the frame, and for an array whose last column is the code of the group. Subspaces are compared
# by their projectors.
table = pd.concat([make(part) for part in range(PARTS)])
P = FairPCA(10).fit(table[NAMES], sensitive_features=table["group"]).components_
numbers = people.assign(
    group=people["group"].map({"a": 0, "b": 1, "c": 2}, meta=("group", int))
)
from_array = FairPCA(10).fit(numbers.to_dask_array(), sensitive_features=FEATURES)
for name, model in {"Dask DataFrame": fair, "Dask array": from_array}.items():
    difference = np.abs(model.components_.T @ model.components_ - P.T @ P).max()
    (levels,) = model.groups_.values()
    print(f"{name:15} groups {levels}, largest difference {difference:.0e}")
    assert difference < 1e-8

# %%
# Lazy results
# ------------
# ``transform`` only adds tasks to the graph. The last three rows need the last partition only, so
# no other is made.
T = fair.transform(people)
print(type(T).__name__, "with columns", *list(T.columns)[:3], "...")
with get_task_stream(client) as stream:
    print(T.iloc[:, :4].tail(3).round(2))
made = [task["key"] for task in stream.data if str(task["key"]).startswith("('make-")]
print("partitions made:", len(made))

# %%
# Leakage on held-out data
# ------------------------
# A ninth partition. The groups' variances differ, and trees find that:
new = make(PARTS)[:4000]
T_new = fair.transform(new[NAMES])
for probe in ("linear", "boosting"):
    found = leakage(T_new, new["group"], probe=probe, cv=3, random_state=0)
    chance = found.chance_interval[1]
    print(f"{probe:8} probe: AUC {found.auc:.2f}, chance reaches {chance:.2f}")
client.close()
cluster.close()

# %%
# What to take away
# -----------------
# - The call and the answer are the same, and results are lazy.
# - Attributes, labels and weights are columns of X: rows of two collections cannot be paired.
# - On a cluster, fairpca must be installed on the workers.
#
# Spark, and what a billion rows would cost: :doc:`/howto/scale`. Files without a cluster:
# :ref:`sphx_glr_gallery_07_more_rows_than_memory.py`.
