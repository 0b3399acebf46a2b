"""Layers are erased one after the other, and a trained model shows what it is worth."""

import re

import numpy as np
import pytest

from fairpca import UsageError, load, save
from fairpca.erasers import LEACE, SPLINCE, KernelSAL, MeanProjection
from fairpca.errors import InfeasibleError, SingleGroupError
from fairpca.metrics import plan
from fairpca.torch import erased, layer_leakage, scrub
from language_models.tiny_model import (
    LENGTH,
    PAD,
    WIDTH,
    batches_of,
    language_model,
    next_word_loss,
)
from optional_libraries import torch

BLOCKS = ["blocks.0", "blocks.1", "blocks.2"]


@pytest.fixture(scope="module")
def scrubbed(trained):
    return scrub(trained.model, trained.train)


def activations(model, inputs, layer):
    """Return what a layer returns, as an array of shape (batch, tokens, d)."""
    seen = []
    hook = model.get_submodule(layer).register_forward_hook(lambda *a: seen.append(a[2]))
    with torch.no_grad():
        model(inputs)
    hook.remove()
    hidden = seen[0][0] if isinstance(seen[0], tuple) else seen[0]
    return hidden.double().numpy()


def test_no_layer_reveals_the_attribute_on_held_out_texts_and_the_task_is_kept(trained, scrubbed):
    found = layer_leakage(trained.model, trained.held_out, erasers=scrubbed, loss=next_word_loss)
    assert [one.layer for one in found.layers] == BLOCKS
    for one in found.layers:
        assert one.before.auc > 0.6
        assert one.before.above_chance
        low, high = one.after.chance_interval
        assert not one.after.above_chance, str(one)
        assert one.after.auc < high
        assert one.after.auc > low - 0.05
    assert found.loss_after <= 1.05 * found.loss_before


def test_every_layer_has_to_be_erased(trained, scrubbed):
    """Erased in the first one alone, later ones compute the attribute again."""
    only = {BLOCKS[0]: scrubbed[BLOCKS[0]]}
    found = layer_leakage(trained.model, trained.held_out, erasers=only, layers=BLOCKS)
    assert [one.after.above_chance for one in found.layers] == [False, True, True]


FEW, NEW, DRAWS = 500, 3000, 12
"""Texts of a fit and of a measurement, and how many of both are drawn."""


def one_word_each(batches, seed):
    """Return batches whose mask is one word of each text, drawn at random."""
    drawn = np.random.default_rng(seed)
    masks = [torch.eye(LENGTH)[drawn.integers(LENGTH, size=len(words))] for words, _ in batches]
    return [(*batch, mask) for batch, mask in zip(batches, masks, strict=True)]


def planned_and_measured(model, draw, masked):
    """Scrub with few texts; return AUCs in new ones, layer by layer, and the losses.

    Columns are the AUC planned if texts count as rows, if words do, and the measured one. The
    separation is that behind the AUC before, in the model as it is.
    """
    fit, new = batches_of(FEW, seed=100 + draw), batches_of(NEW, seed=200 + draw, size=500)
    erasers = scrub(model, masked(fit))
    found = layer_leakage(model, new, erasers=erasers, loss=next_word_loss, random_state=draw)
    texts, probed = (np.bincount(np.concatenate([b[1] for b in batches])) for batches in (fit, new))
    asked = {"columns": WIDTH, "trained_on": 0.8 * probed}  # four of five folds
    levels = [
        [plan(n * texts, auc=one.before.auc, **asked).auc_left for n in (1, LENGTH)]
        + [one.after.auc]
        for one in found.layers
    ]
    return found, np.array(levels)


def test_a_linear_probe_finds_what_was_planned_in_each_scrubbed_layer(trained):
    """With one word of each text in the fit, so that rows are independent.

    The law is about the mean over draws of texts. The standard error of that mean has both parts:
    which texts were drawn for the fit, and how surely new ones tell the AUC.
    """
    found, levels = zip(
        *(
            planned_and_measured(trained.model, i, lambda fit, i=i: one_word_each(fit, i))
            for i in range(DRAWS)
        ),
        strict=True,
    )
    by_texts, by_words, measured = np.moveaxis(levels, 2, 0)
    off = measured - by_texts
    error = off.std(axis=0, ddof=1) / DRAWS**0.5
    assert error.max() < 0.01
    assert np.all(np.abs(off.mean(axis=0)) < 4 * error)
    assert np.all((measured - by_words).mean(axis=0) > 5 * error)  # what another size would leave
    assert max(one.loss_after / one.loss_before for one in found) <= 1.05


def test_all_words_of_a_text_leave_less_than_is_planned_for_one(trained):
    levels = [planned_and_measured(trained.model, i, lambda fit: fit)[1] for i in range(DRAWS)]
    by_texts, _, measured = np.mean(levels, axis=0).T
    error = np.std(levels, axis=0, ddof=1)[:, 2] / DRAWS**0.5
    assert np.all(measured < by_texts - 5 * error)


def test_later_layers_are_fitted_to_what_earlier_erasers_leave(trained, scrubbed):
    """An eraser of each layer is that of the rows which a run with the earlier ones makes."""
    sex = np.concatenate([batch[1].numpy() for batch in trained.train])
    for i, layer in enumerate(BLOCKS):
        earlier = {name: scrubbed[name] for name in BLOCKS[:i]}
        with erased(trained.model, earlier):
            X = np.concatenate([activations(trained.model, b[0], layer) for b in trained.train])
        expected = LEACE().fit(X.reshape(-1, X.shape[2]), sensitive_features=sex.repeat(LENGTH))
        np.testing.assert_allclose(
            scrubbed[layer].components_, expected.components_, atol=1e-4, rtol=0
        )
        np.testing.assert_allclose(scrubbed[layer].mean_, expected.mean_, atol=1e-4)


def test_the_means_of_the_fit_are_equal_in_all_layers_at_once(trained, scrubbed):
    with erased(trained.model, scrubbed):
        for layer in BLOCKS:
            sums, counts = np.zeros((2, 32)), np.zeros(2)
            for inputs, sex in trained.train:
                rows = activations(trained.model, inputs, layer).sum(axis=1)
                for s in (0, 1):
                    sums[s] += rows[sex.numpy() == s].sum(axis=0)
                    counts[s] += LENGTH * int((sex == s).sum())
            means = sums / counts[:, None]
            np.testing.assert_allclose(means[0], means[1], atol=1e-4)


def test_a_model_is_left_as_it_was(trained):
    model = language_model()
    model.train()
    model.blocks[1].eval()
    before = [module.training for module in model.modules()]
    state = torch.random.get_rng_state()
    scrub(model, trained.train[:5], layers="blocks.*")
    layer_leakage(model, trained.held_out[:5], layers="blocks.*")
    assert [module.training for module in model.modules()] == before
    assert not any(module._forward_hooks for module in model.modules())
    assert all(parameter.grad is None for parameter in model.parameters())
    assert torch.equal(torch.random.get_rng_state(), state)


def test_layers_are_named_by_patterns_and_sorted_as_they_run(trained):
    model, batches = trained.model, trained.train[:10]
    assert list(scrub(model, batches, layers="blocks.*.mlp")) == [f"{b}.mlp" for b in BLOCKS]
    mixed = ["blocks.1", "blocks.0.mlp", "blocks.1.mlp", "blocks.0"]
    assert list(scrub(model, batches, layers=mixed)) == [
        "blocks.0.mlp",
        "blocks.0",
        "blocks.1.mlp",
        "blocks.1",
    ]
    assert list(scrub(model, batches)) == BLOCKS


@pytest.mark.parametrize(
    ("layers", "message"),
    [
        ("block.*", "no module 'block"),
        ("blocks.0.mpl", "Did you mean 'blocks.0.mlp'"),
        ("blocks", "did not run 'blocks'"),
        ([], "layers is empty"),
    ],
)
def test_layers_that_are_not_there_are_errors(layers, message, trained):
    with pytest.raises(UsageError, match=message):
        scrub(trained.model, trained.train, layers=layers)


def test_a_model_without_one_list_of_blocks_has_its_layers_named():
    nn = torch.nn
    batches = [(torch.eye(4)[:, :2], [0, 1, 0, 1])]
    layers = [nn.Linear(2, 2), nn.Tanh(), nn.Linear(2, 3), nn.Tanh()]
    for model, names in [
        (nn.Sequential(layers[0]), ["0"]),
        (nn.Sequential(*layers), ["0", "1", "2"]),
        (nn.Sequential(nn.Sequential(*layers[:2])), ["0.0", "0.1"]),
    ]:
        with pytest.raises(UsageError, match=rf"no list of blocks.*layers={re.escape(str(names))}"):
            scrub(model, batches)
        assert list(scrub(model, batches, layers=names)) == names
    assert list(scrub(nn.Sequential(*layers), batches, layers="*")) == ["0", "1", "2", "3"]
    with pytest.raises(UsageError, match="no modules inside"):
        scrub(layers[0], batches)

    class Pair(nn.Module):
        def __init__(self):
            super().__init__()
            self.encoder = nn.ModuleList([nn.Linear(2, 2), nn.ModuleList([nn.Linear(2, 2)] * 9)])
            self.decoder = nn.ModuleList([nn.Linear(2, 2), nn.Linear(2, 2)])

    with pytest.raises(UsageError, match=r"'encoder', 'decoder'.*layers='encoder\.\*'"):
        scrub(Pair(), [(torch.zeros(2, 2), [0, 1])])


def with_padding(batches, seed=0):
    """Return batches of arguments whose last words are padding of another embedding."""
    rng = np.random.default_rng(seed)
    for words, attribute in batches:
        mask = torch.arange(LENGTH) < torch.from_numpy(rng.integers(4, LENGTH, (len(words), 1)))
        yield torch.where(mask, words, PAD), attribute, mask.long()


def test_padding_is_left_out_however_the_mask_comes(trained):
    parts = list(with_padding(trained.train[:8]))
    forms = [
        [({"input_ids": w, "attention_mask": m}, a) for w, a, m in parts],
        [(w, a, m) for w, a, m in parts],
        [({"input_ids": w}, a.numpy(), m.bool()) for w, a, m in parts],
        [{"input_ids": w, "attention_mask": m, "sensitive_features": a} for w, a, m in parts],
        [(w, a[:, None].repeat(1, LENGTH), m) for w, a, m in parts],
    ]
    X, sex = [], []
    for w, a, m in parts:
        X.append(activations(trained.model, w, BLOCKS[0])[m.numpy() == 1])
        sex.append(a.numpy().repeat(m.sum(dim=1).numpy()))
    expected = LEACE().fit(np.concatenate(X), sensitive_features=np.concatenate(sex))
    for batches in forms:
        found = scrub(trained.model, batches, layers=BLOCKS[0])[BLOCKS[0]]
        assert found.n_samples_seen_ == sum(map(len, X))
        np.testing.assert_allclose(found.components_, expected.components_, atol=1e-4)


@pytest.mark.parametrize("more", [False, True])
def test_a_model_of_one_argument_takes_the_dict_as_a_whole(more, trained):
    """As SentenceTransformer does, and other models that are called with a batch."""

    class Inside(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.model = trained.model

    class OfFeatures(Inside):
        def forward(self, features):
            return self.model(**features)

    class OfFeaturesAndMore(Inside):
        def forward(self, features, scale=1.0, **others):
            assert not others
            return scale * self.model(**features)

    parts = list(with_padding(trained.train[:4]))
    named = [({"input_ids": w, "attention_mask": m}, a) for w, a, m in parts]
    expected = scrub(trained.model, named, layers=BLOCKS[0])[BLOCKS[0]]
    flat = [features | {"sensitive_features": a} for features, a in named]
    for batches in (named, [((features,), a) for features, a in named], flat):
        model = OfFeaturesAndMore() if more else OfFeatures()
        found = scrub(model, batches, layers="model.blocks.0")["model.blocks.0"]
        assert found.n_samples_seen_ == expected.n_samples_seen_
        np.testing.assert_array_equal(found.components_, expected.components_)
    with pytest.raises(TypeError, match="unexpected keyword argument 'token_type_ids'"):
        scrub(trained.model, [({**f, "token_type_ids": f["input_ids"]}, a) for f, a in named])


def test_labels_of_tokens_and_several_attributes(trained):
    """Whether a word is of the first half is removed where the model first looks at it."""
    batches = [(w, {"half": w < 12, "group": a}) for w, a in trained.train[:10]]
    eraser = scrub(trained.model, batches, layers="words", method=MeanProjection())["words"]
    assert eraser.n_directions_ == 2
    found = layer_leakage(trained.model, batches, layers="words")
    assert [(one.attribute, one.before.auc > 0.9) for one in found.layers] == [
        ("half", True),
        ("group", False),
    ]
    words, group = (np.concatenate([b[i].numpy() for b in trained.train[:10]]) for i in (0, 1))
    T = eraser.transform(activations(trained.model, torch.from_numpy(words), "words"))
    for mask in (words < 12, np.repeat(group[:, None] == 1, LENGTH, axis=1)):
        np.testing.assert_allclose(T[mask].mean(axis=0), T[~mask].mean(axis=0), atol=1e-6)


def test_a_target_is_kept_by_an_eraser_that_keeps_one(trained):
    batches = [(w, a, None, w[:, 0] < 8) for w, a in trained.train[:10]]
    eraser = scrub(trained.model, batches, layers="words", method=SPLINCE())["words"]
    X = np.concatenate([activations(trained.model, w, "words") for w, _ in trained.train[:10]])
    y = np.concatenate([(w[:, 0] < 8).numpy() for w, _ in trained.train[:10]]).repeat(LENGTH)
    X = X.reshape(-1, X.shape[2])
    T = eraser.transform(X)
    before, after = (Y[y].mean(axis=0) - Y[~y].mean(axis=0) for Y in (X, T))
    np.testing.assert_allclose(after, before, atol=1e-5)


def test_a_layer_that_runs_twice_is_fitted_to_both_outputs():
    class Twice(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = torch.nn.Linear(3, 3)

        def forward(self, x):
            return self.layer(self.layer(x))

    sex = torch.arange(200) % 2
    rows = torch.randn(200, 3, generator=torch.Generator().manual_seed(0)) + sex[:, None]
    eraser = scrub(Twice(), [(rows, sex)], layers="layer")["layer"]
    assert eraser.n_samples_seen_ == 400


def test_rows_that_are_no_sequences_will_do(people):
    X, sex = people
    model = torch.nn.Sequential(torch.nn.Linear(6, 5), torch.nn.Tanh()).double()
    batches = torch.utils.data.DataLoader(
        torch.utils.data.TensorDataset(torch.from_numpy(X), torch.from_numpy(sex)), batch_size=64
    )
    eraser = scrub(model, batches, layers="1")["1"]
    expected = LEACE().fit(activations(model, torch.from_numpy(X), "1"), sensitive_features=sex)
    np.testing.assert_allclose(eraser.components_, expected.components_, atol=1e-9)


@pytest.mark.parametrize(
    ("batches", "message"),
    [
        (lambda b: iter(b), "cannot be read several times"),
        (lambda b: [], "yields nothing"),
        (lambda b: [b[0][0]], "A batch is a Tensor"),
        (lambda b: [(b[0][0], None)], "None for sensitive_features"),
        (lambda b: [(b[0][0], b[0][1][:7])], "7"),
        (lambda b: [(*b[0], torch.ones(3, 3))], r"mask of a batch has the shape \(3, 3\)"),
    ],
)
def test_batches_of_another_form_are_errors(batches, message, trained):
    with pytest.raises(UsageError, match=message):
        scrub(trained.model, batches(trained.train))


def test_an_error_of_a_fit_names_the_layer(trained):
    one_group = [(w, torch.zeros(len(w))) for w, _ in trained.train[:2]]
    with pytest.raises((SingleGroupError, InfeasibleError)) as raised:
        scrub(trained.model, one_group)
    assert raised.value.__notes__ == ["This was the layer 'blocks.0'."]
    with pytest.raises(UsageError, match="no partial_fit"):
        scrub(trained.model, one_group, method=KernelSAL(2))


def test_half_precision_models(trained):
    model = language_model().bfloat16()
    model.load_state_dict(trained.model.state_dict())
    erasers = scrub(model, trained.train)
    found = layer_leakage(model, trained.held_out, erasers=erasers)
    assert [one.before.above_chance for one in found.layers] == [True] * 3
    assert [one.after.above_chance for one in found.layers] == [False] * 3


def test_erasers_keep_no_moments_and_are_saved_as_others(trained, scrubbed, tmp_path):
    assert not any("moments_" in vars(eraser) for eraser in scrubbed.values())
    pytest.importorskip("safetensors")
    save(scrubbed[BLOCKS[1]], tmp_path / "model.fairpca")
    again = load(tmp_path / "model.fairpca")
    inputs = trained.held_out[0][0]
    with erased(trained.model, {BLOCKS[1]: again}):
        by_loaded = trained.model(inputs)
    with erased(trained.model, {BLOCKS[1]: scrubbed[BLOCKS[1]]}):
        torch.testing.assert_close(trained.model(inputs), by_loaded, rtol=0, atol=1e-6)


def test_one_token_of_each_text_is_drawn_for_probes(trained):
    found = layer_leakage(trained.model, trained.held_out[:4], layers=["blocks.2", "blocks.0"])
    assert [one.layer for one in found.layers] == ["blocks.0", "blocks.2"]
    assert [one.before.n_rows for one in found.layers] == [400, 400]
    assert [one.after for one in found.layers] == [None, None]
    assert found.loss_before is None
    more = layer_leakage(trained.model, trained.held_out[:4], layers="words", tokens=3)
    assert more.layers[0].before.n_rows == 1200
    padded = [
        ({"input_ids": w, "attention_mask": m}, a)
        for w, a, m in with_padding(batches_of(200, seed=3))
    ]
    shown = layer_leakage(trained.model, padded, layers="words", tokens=LENGTH)
    assert shown.layers[0].before.n_rows == sum(int(b[0]["attention_mask"].sum()) for b in padded)
    with pytest.raises(UsageError, match="tokens=0"):
        layer_leakage(trained.model, trained.held_out, tokens=0)


def test_the_strong_probe_is_asked_beside_the_linear_one(trained, scrubbed):
    last = {BLOCKS[2]: scrubbed[BLOCKS[2]]}
    batches = trained.held_out[:3]
    found = layer_leakage(
        trained.model, batches, erasers=last, probes=("linear", "strong"), effort=1e-3
    )
    assert [one.before.probe for one in found.layers] == ["linear", "strong"]
    assert [one.after.probe for one in found.layers] == ["linear", "strong"]
    assert len(str(found).splitlines()) == 2
