"""
In which layer of an encoder does gender hide?
==============================================

In every one. From a single random token of a text, a linear probe predicts it with an AUC of 0.74
to 0.89 in the first five layers of all-MiniLM-L6-v2, and of 0.99 in the last. With LEACE in each
layer it finds 0.52 to 0.53 in held-out texts, less than was planned. **Other models still find
gender**: the strong probe has 0.67 to 0.79.
"""

# %%
# What was measured
# -----------------
# Short texts about people say *she* or *he*. The encoder is all-MiniLM-L6-v2, whose last layer is
# averaged to the embedding of a text. :func:`~fairpca.torch.scrub` fits an eraser to what each
# layer says about its tokens, the earlier layers erased, and
# :func:`~fairpca.torch.layer_leakage` asks probes about one random token of each held-out text:
#
# .. code-block:: python
#
#     # batches: [(encoder.preprocess(texts), gender), ...]
#     erasers = scrub(encoder, train)  # LEACE in every layer
#     print(layer_leakage(encoder, held_out, erasers=erasers, probes=("linear", "strong")))
#
#     with erased(encoder, erasers):
#         embeddings = encoder.encode(texts)
#
# This site is built without torch. **So these are stored numbers**, of the day below.
# ``examples/behind_the_docs/layers.py`` measures them in a quarter of an hour.
import json
from pathlib import Path

import matplotlib.pyplot as plt
import pandas as pd

here = Path.cwd()
root = next(p for p in (here, *here.parents) if (p / "docs/data/layers.json").exists())
found = json.loads((root / "docs/data/layers.json").read_text(encoding="utf-8"))
n = found["n_texts"]
print(f"Measured on {found['measured']}, with {found['versions']}")
print(f"{n['fit']:,} texts to fit erasers, {n['similar']:,} others to measure")

# %%
# Every layer, before and after
# -----------------------------
# *Planned* is what :func:`~fairpca.metrics.plan` expects a linear probe to find, from the number of
# texts, the 384 columns and the AUC before. It counts texts as rows. A text gives the fit all of
# its tokens, so what is left is at most that, up to chance.
layers = pd.DataFrame(found["layers"])
layers["layer"] = [int(name.rpartition(".")[2]) + 1 for name in layers["layer"]]
layers = layers.set_index("layer")
print("AUC for gender from one token; 0.50 is chance\n")
print(layers.round(2).T.to_string())

# %%
figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
looks = {
    "linear": ("o-", "C0", "linear probe"),
    "linear, erased": ("o--", "C0", "linear probe, erased"),
    "strong": ("D-", "C3", "strong probe"),
    "strong, erased": ("D--", "C3", "strong probe, erased"),
}
for column, (line, color, label) in looks.items():
    axes.plot(layers.index, layers[column], line, color=color, linewidth=2, label=label)
axes.plot(layers.index, layers["planned"], ":", color="0.3", label="planned, linear")
axes.axhline(0.5, color="0.6", linewidth=1)
axes.set(xlabel="layer", ylabel="AUC for gender, held-out texts", ylim=(0.45, 1.03))
axes.legend(loc="upper left", ncols=2)
plt.show()

# %%
# What the strong probe finds is a lower bound: it had half as many texts, and in the first layers
# found less than the linear probe before, and in three layers more after erasing than before.

# %%
# What the sentence embedding loses
# ---------------------------------
# *Field* is the accuracy for one of eight fields of work, and *neighbours kept* the share of the
# ten nearest texts that stay, both of texts about new occupations. Erasers that were fitted to
# tokens know nothing of their average: one more behind the encoder makes means of embeddings equal.
sentences = pd.DataFrame(found["sentences"]).T
print(sentences.round(2).to_string())

# %%
# Erasers in each layer leave the strong probe less than one behind the encoder does, and cost the
# field nothing.

# %%
# What to take away
# -----------------
# - Gender is in every layer, and most visible in the last. So erase in each: what only non-linear
#   models see in one layer, the next one makes visible to linear ones.
# - What a linear probe finds afterwards can be planned from the number of texts.
# - LEACE in each layer hides nothing from non-linear models. Measure with ``"strong"``.
#
# :doc:`/reference/torch` has the functions, :doc:`/howto/embeddings` erasers behind an encoder.
