"""Pipelines in skops' files: refused with `ModelFileError`, or the same map; nothing ever runs.

These are zip archives without a digest of ours. Changes of their bytes must be refused or make no
difference. An archive that was put together anew, with right checksums, may describe another
pipeline, whose parts need not fit: it is promised that only types on the list come to life, and
that nothing is executed on loading. Using it may raise any exception; it may not hang or crash.
"""

from __future__ import annotations

import io
import json
import random
import warnings
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from fairpca import FairKernelPCA, FairPCA
from fairpca.models import ModelFileError, load_pipeline, save_pipeline
from fairpca.tables._encoder import TableEncoder

from ..byte_mutations import mutated
from ..cases import EQUAL, REFUSED, VALID, Case, Failed, Target, assert_one_line
from ..json_mutations import as_text, edited
from ..seed_models import people, rows

DANGEROUS = (
    *("os.system", "builtins.eval", "builtins.exec", "subprocess.Popen", "pickle.loads"),
    *("operator.methodcaller", "functools.partial", "numpy.load", "joblib.load", "shutil.rmtree"),
    *("sklearn.preprocessing._function_transformer.FunctionTransformer", "webbrowser.open"),
)
"""What a forged file would like to name."""


class Pipelines(Target):
    """`fairpca.models.load_pipeline`."""

    name = "pipelines"

    def prepare(self, folder: Path) -> None:
        """Save pipelines of several kinds."""
        X, sex, y = rows()
        groups = {"fairpca__sensitive_features": sex}
        plain = make_pipeline(StandardScaler(), FairPCA(2)).fit(X, **groups)
        model = make_pipeline(FairPCA(2), LogisticRegression()).fit(X, y, **groups)
        kernel = FairKernelPCA(2).fit(X, sensitive_features=sex)
        frame = people().drop(columns=["sex", "approved"])
        table = make_pipeline(TableEncoder(), FairPCA(2))
        table.fit(frame, fairpca__sensitive_features=people()["sex"])
        for name, steps in {"a": plain, "b": model, "c": kernel, "table": table}.items():
            save_pipeline(steps, folder / f"{name}.skops")

    def load_seeds(self, folder: Path) -> None:
        """Read the files."""
        self.seeds = {path.stem: path.read_bytes() for path in sorted(folder.iterdir())}
        self.X, self.frame = rows(7, seed=1)[0], people(9, seed=1)
        self.expected: dict[str, Any] = {}

    def warm_up(self, folder: Path) -> None:
        """Use each of them once."""
        for name, content in self.seeds.items():
            (folder / "x.skops").write_bytes(content)
            self.expected[name] = self._used(load_pipeline(folder / "x.skops"), name)

    def case(self, rng: random.Random) -> Case:
        """Return an archive whose bytes, or whose contents, were changed."""
        name, other = rng.choice(list(self.seeds)), rng.choice(list(self.seeds.values()))
        content = self.seeds[name]
        if rng.random() < 0.4:
            content, how = mutated(rng, content, other)
            return Case(self.name, content, how, {"seed": name, "signed": False})
        content, how = _rewritten(rng, content, other)
        return Case(self.name, content, how, {"seed": name, "signed": True})

    def check(self, case: Case, folder: Path) -> str:
        """Load and use."""
        path = folder / "x.skops"
        path.write_bytes(case.content)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                model = load_pipeline(path)
            except ModelFileError as error:
                assert_one_line(error, path)
                return REFUSED
            name, signed = case.about["seed"], case.about["signed"]
            try:
                same = self._used(model, name) == self.expected[name]
            except Exception:  # its parts do not fit together, which is not promised
                same = False
        if not same and not signed:
            raise Failed("an archive with other bytes gave another pipeline")
        return EQUAL if same else VALID

    def _used(self, model: Any, name: str) -> bytes:
        X = self.frame if name == "table" else self.X
        use = model.predict_proba if hasattr(model, "predict_proba") else model.transform
        return np.asarray(use(X)).tobytes()


def _rewritten(rng: random.Random, content: bytes, other: bytes) -> tuple[bytes, str]:
    """Return an archive with an edited member, and right checksums."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(io.BytesIO(other)) as archive:
        strangers = {name: archive.read(name) for name in archive.namelist()}
    kind = rng.randrange(40) // 4
    packing, bomb = zipfile.ZIP_STORED, 0
    if kind < 5:
        schema = json.loads(members["schema.json"])
        schema, how = edited(rng, schema, json.loads(strangers["schema.json"]))
        members["schema.json"] = as_text(schema).encode()
    elif kind < 7:
        which = rng.choice(list(members))
        members[which], how = mutated(rng, members[which] or b"\0", b"".join(strangers.values()))
        how = f"{which[-12:]}: {how}"
    elif kind == 7:
        text, how = members["schema.json"].decode(), "a dangerous name"
        names = json.loads(members["schema.json"])
        module, _, cls = rng.choice(DANGEROUS).rpartition(".")
        text = text.replace(f'"{names["__class__"]}"', f'"{cls}"')
        text = text.replace(f'"{names["__module__"]}"', f'"{module}"')
        members["schema.json"] = text.encode()
    elif kind == 8:
        members[rng.choice(("../../x", "/tmp/x", "a\\..\\b", "schema.json/", "é" * 300))] = b"x"
        how = "a member with a path"
    else:
        packing, how = zipfile.ZIP_DEFLATED, "a bomb"
        bomb = rng.choice((1, 1, 1, 300))
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", packing, compresslevel=1) as archive:
        for name, member in members.items():
            with archive.open(name, "w") as stream:
                stream.write(member)
                for _ in range(bomb if name == "schema.json" else 0):
                    stream.write(b" " * 2**20)
    return made.getvalue(), how
