"""Model files: refused with `ModelFileError`, or the same map to the bit.

Half of the files are changed without care; they must be refused unless no byte is different. The
other half have contents that are changed and a digest that is right. Such a file may describe
another model. It is accepted as one if it holds together: it maps rows to as many finite columns
as it names (or refuses the rows in words), twice the same; it can be described, saved, and loaded
again to the same bits. If nothing but facts about the model was changed, the map is the same.
"""

from __future__ import annotations

import random
import warnings
from collections.abc import Collection
from pathlib import Path
from typing import Any

import numpy as np

from cli.commands import run_command
from fairpca import FairPCAError, FairTableTransformer, load, save
from fairpca.errors import ExportError, ModelFileError
from fairpca.models import inspect_model, model_card

from ..byte_mutations import mutated
from ..cases import EQUAL, REFUSED, VALID, Case, Failed, Target, assert_one_line, is_ours
from ..forged_models import forged, taken_apart
from ..seed_models import people, rows, write_models

DECIDES = ("class", "kind", "parameters", "learned", "encoder")
"""What the map follows from; the rest of a header is facts about it."""

HUGE, TINY = 1e100, 1e-100
"""Products of numbers beyond these may overflow."""


class Models(Target):
    """`fairpca.models.load` and `fairpca inspect`."""

    name = "models"

    def __init__(self, names: Collection[str] = ()) -> None:
        self.names = names

    def prepare(self, folder: Path) -> None:
        """Save a model of every class, or those of some names."""
        write_models(folder, self.names)

    def load_seeds(self, folder: Path) -> None:
        """Read the files."""
        self.seeds = {path.name: path.read_bytes() for path in sorted(folder.iterdir())}
        self.X, self.frame = rows(7, seed=1)[0], people(9, seed=1)
        self.expected: dict[str, Any] = {}

    def warm_up(self, folder: Path) -> None:
        """Load and describe each of them once."""
        for name, content in self.seeds.items():
            self.check(Case(self.name, content, "unchanged", {"seed": name}), folder)
            assert_inspect_agrees(folder / "model.fairpca", EQUAL)

    def case(self, rng: random.Random) -> Case:
        """Return a file that was changed, with or without its digest."""
        name, other = rng.choice(list(self.seeds)), rng.choice(list(self.seeds.values()))
        about = {"seed": name, "inspect": rng.random() < 0.3}
        change = mutated if rng.random() < 0.5 else forged
        content, how = change(rng, self.seeds[name], other)
        return Case(self.name, content, how, {**about, "signed": change is forged})

    def check(self, case: Case, folder: Path) -> str:
        """Load, use, save and inspect."""
        path = folder / "model.fairpca"
        path.write_bytes(case.content)
        original = self.seeds[case.about["seed"]]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            outcome = self._loaded(case, path, original)
        if case.about.get("inspect"):
            assert_inspect_agrees(path, outcome)
        return outcome

    def _loaded(self, case: Case, path: Path, original: bytes) -> str:
        try:
            model = load(path)
        except ModelFileError as error:
            assert_one_line(error, path)
            return REFUSED
        if not case.about.get("signed") and case.content != original:
            raise Failed("a file with other bytes was loaded")
        told = self._represented(model)
        assert_same(told, self._represented(model), "the same rows are mapped differently")
        assert_whole(model, path, told, self)
        if same_model(case.content, original):
            expected = self._of_the_seed(case.about["seed"], path)
            assert_same(told, expected, "a file of the same model has another map")
            return EQUAL
        return VALID

    def _of_the_seed(self, name: str, path: Path) -> Any:
        if name not in self.expected:
            seed = path.with_name("seed.fairpca")
            seed.write_bytes(self.seeds[name])
            self.expected[name] = self._represented(load(seed))
        return self.expected[name]

    def _represented(self, model: Any) -> Any:
        """Return what a model makes of some rows, or the words in which it refuses them."""
        table = isinstance(model, FairTableTransformer) and model.encoder_ is not None
        frame = self.frame
        if table:
            known = set(frame.columns)
            wanted = [c for c in model.encoder_.needed_columns if c not in known]
            frame = frame.assign(**dict.fromkeys(wanted, 1.0)) if len(wanted) < 50 else frame
        X = frame if table else self.X
        try:
            T = np.asarray(model.transform(X))
        except (FairPCAError, ValueError) as error:
            if is_ours(error, plainly=True) or "features" in str(error):  # scikit-learn's words
                return str(error)
            raise
        assert_representation(model, T, len(X))
        return T


def assert_representation(model: Any, T: np.ndarray, n: int) -> None:
    """Check that there are as many finite columns as the model names."""
    names = model.get_feature_names_out()
    if T.shape != (n, len(names)) or T.dtype.kind != "f":
        raise Failed(f"{T.dtype} of shape {T.shape} for {n} rows and {len(names)} names")
    if not np.isfinite(T).all() and not _is_extreme(model):
        raise Failed("numbers of ordinary size give a representation that is not finite")


def _is_extreme(model: Any) -> bool:
    parts, seen = [model._map, getattr(model, "encoder_", None)], []
    while parts:
        part = parts.pop()
        if isinstance(part, np.ndarray) and part.dtype.kind == "f":
            seen.append(np.abs(part[part != 0]).ravel())
        elif isinstance(part, float | int):
            seen.append(np.abs([float(part)]))
        elif isinstance(part, list | tuple):
            parts += part
        elif hasattr(part, "__dict__") or hasattr(part, "data"):
            parts += [*getattr(part, "__dict__", {}).values()]
    values = np.concatenate(seen) if seen else np.ones(1)
    return bool((values > HUGE).any() or ((values < TINY) & (values > 0)).any())


def assert_whole(model: Any, path: Path, told: Any, target: Models) -> None:
    """Check that a model can be described, saved, and loaded to the same bits."""
    inspect_model(path)
    model_card(model).encode("utf-8")
    again = path.with_name("again.fairpca")
    try:
        save(model, again, overwrite=True)
    except ExportError:
        return  # it is too large, and that is said
    assert_same(told, target._represented(load(again)), "a saved model is another one")


def assert_same(told: Any, expected: Any, what: str) -> None:
    """Compare representations bit by bit, and refusals word by word."""
    same = type(told) is type(expected) and (
        told == expected if isinstance(told, str) else told.tobytes() == expected.tobytes()
    )
    if not same:
        raise Failed(what)


def assert_inspect_agrees(path: Path, outcome: str) -> None:
    """Check that the command refuses what `load` refuses, and shows the rest without harm."""
    for options in ([], ["--json"]):
        code, output = run_command(["inspect", str(path), *options])
        if code != (2 if outcome == REFUSED else 0):
            raise Failed(f"inspect ends with {code} for a file that is {outcome}")
        if "\x1b" in output or "Traceback" in output:
            raise Failed("inspect prints an escape sequence or a traceback")


def same_model(content: bytes, original: bytes) -> bool:
    """Tell whether two files differ in facts about the model only."""
    try:
        a, b = taken_apart(content), taken_apart(original)
    except (ValueError, KeyError, TypeError, AttributeError):
        return False
    decided = all(repr(a.inner.get(key)) == repr(b.inner.get(key)) for key in DECIDES)
    return decided and (a.outer, a.data) == (b.outer, b.data)
