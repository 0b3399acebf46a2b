"""A model as it is handed over: `FairModel`, and `save` and `load` of it and of estimators."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Self

import numpy as np
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted

from .._numerics import Packer, is_foreign, library_versions, to_numpy, unplain
from .._rows import FeatureMap, LinearMap
from ..errors import ModelFileError, UnsavableModelError, UsageError
from ..estimators import FLOATS
from ..tables import TableEncoder
from ._estimator_state import made_estimator, n_columns, plain_estimator
from ._model_file import FORMAT, MAX_BYTES, VERSION, read_model_file, write_model_file

ESTIMATOR, FAIR_MODEL = "estimator", "fair model"


@dataclass(frozen=True)
class FairModel:
    """From rows of a table, as they are in a file, to their fair representation.

    Parameters
    ----------
    encoder : TableEncoder or None
        Fitted preprocessing: columns of any kind become numbers. None if rows are numbers already.
    estimator : estimator
        What was fitted to the encoded rows: `fairpca.FairPCA` and so on.
    info : dict
        Plain facts: ``sensitive``, ``target``, ``data``, ``fingerprint``, and numbers that were
        measured, such as ``leakage_before`` and ``leakage_after``.

    See Also
    --------
    fit_table : What makes it of a table.
    fairpca.models.model_card : The same model for people.

    Examples
    --------
    >>> import numpy as np
    >>> from fairpca import FairPCA
    >>> from fairpca.models import FairModel
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(50, 4))
    >>> fair = FairPCA(2).fit(X, sensitive_features=rng.choice(["f", "m"], size=50))
    >>> model = FairModel(None, fair, {"data": "made up", "sensitive": ["sex"]})
    >>> model.output_names
    ['fairpca0', 'fairpca1']
    >>> model.transform(X).shape
    (50, 2)
    """

    encoder: Any
    estimator: Any
    info: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        check_is_fitted(self.estimator)
        self.estimator._ensure_solved()
        if self.encoder is None:
            return
        wanted, given = n_columns(self.map), len(self.encoder.get_feature_names_out())
        if wanted != given:
            raise UsageError(
                f"The encoder makes {given} columns, but the estimator was fitted to {wanted}. "
                f"Fit it to what this encoder returns."
            )

    @property
    def map(self) -> LinearMap | FeatureMap:
        """The map on encoded rows, in NumPy arrays; a `FeatureMap` is one of kernel values."""
        fitted: LinearMap | FeatureMap = self.estimator._map
        if isinstance(fitted, LinearMap) and is_foreign(fitted.matrix):
            return fitted.converted(to_numpy)
        return fitted

    @property
    def output_names(self) -> list[str]:
        """Names of the columns of the representation."""
        return [str(name) for name in self.estimator.get_feature_names_out()]

    def transform(self, frame: Any) -> np.ndarray:
        """Return the representation of the rows of a table.

        Parameters
        ----------
        frame : frame, or array-like of shape (n, d) where there is no encoder
            Rows with the columns the model was fitted to; sensitive ones are not needed.

        Returns
        -------
        T : array of float of shape (n, k)
        """
        if self.encoder is None:
            return np.asarray(self.estimator.transform(frame))
        # The encoder has checked the names of the columns; the estimator's are its own.
        encoded = check_array(self.encoder.transform(frame), dtype=FLOATS, ensure_min_samples=0)
        if len(encoded) == 0:  # a batch of a stream may be empty
            return np.empty((0, len(self.output_names)))
        return np.asarray(self.estimator._represent(encoded))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to a file, as `fairpca.save` does.

        Parameters
        ----------
        path : path
            Where the file will be, ``model.fairpca`` by custom. It is replaced in one step.
        """
        save(self, path)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Return the model that a file holds; a bare estimator becomes one without an encoder.

        Parameters
        ----------
        path : path
            A file that `save` wrote.

        Returns
        -------
        FairModel
            As it was saved.

        Raises
        ------
        ModelFileError
            If the file is not a model, as in `fairpca.load`.
        """
        header, model = _opened(path, MAX_BYTES)
        return model if isinstance(model, cls) else cls(None, model, header["info"])


def save(
    model: Any, path: str | os.PathLike[str], *, info: Mapping[str, Any] | None = None
) -> None:
    """Write a fitted model to a file that holds numbers and text only, never code.

    Parameters
    ----------
    model : estimator or FairModel
        `fairpca.FairPCA`, `fairpca.FairKernelPCA` with a built-in kernel, a peer that learns a map
        (`fairpca.peers.LEACE` and so on), or one of them with its preprocessing. An exact kernel
        model holds its training rows, and so does its file.
    path : path
        Where the file will be, ``model.fairpca`` by custom. It is replaced in one step.
    info : dict, optional
        Plain facts to keep with an estimator: ``data``, ``fingerprint``, ``sensitive``, ``target``,
        numbers. A `FairModel` has its own.

    Raises
    ------
    UnsavableModelError
        If the model holds a function, a random generator, or labels that are not plain.

    See Also
    --------
    load : The way back.

    Notes
    -----
    Moments are kept up to 64 MB, so that `partial_fit` goes on after loading; larger ones, those
    that are the rows themselves, and those of models that cannot go on, such as `FairPLS` with
    matched distributions, are left out, and the header says so.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> from fairpca import FairPCA
    >>> from fairpca.models import load, save
    >>> rng = np.random.default_rng(0)
    >>> sex = rng.choice(["f", "m"], size=100)
    >>> X = rng.normal(size=(100, 4))
    >>> fair = FairPCA(n_components=2).fit(X, sensitive_features=sex)
    >>> path = f"{tempfile.mkdtemp()}/model.fairpca"
    >>> save(fair, path, info={"data": "made up"})
    >>> bool((load(path).transform(X) == fair.transform(X)).all())
    True
    """
    kind, estimator, encoder = ESTIMATOR, model, None
    if isinstance(model, FairModel):
        if info is not None:
            raise UnsavableModelError(
                "A FairModel has its own info, so info=... would hide it. Put the facts there: "
                "dataclasses.replace(model, info={**model.info, ...})."
            )
        kind, estimator, encoder, info = FAIR_MODEL, model.estimator, model.encoder, model.info
    if not isinstance(encoder, TableEncoder | None):
        raise UnsavableModelError(
            f"The encoder is a {type(encoder).__name__}, and model files hold a "
            f"fairpca.tables.TableEncoder. For other preprocessing make a scikit-learn pipeline "
            f"and use fairpca.models.save_pipeline."
        )
    packer, facts = Packer(), dict(info or {})
    header = {
        "format": FORMAT,
        "format_version": VERSION,
        "kind": kind,
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "versions": library_versions(),
        "fingerprint": packer.plain(facts.get("fingerprint"), "info['fingerprint']"),
        **plain_estimator(estimator, packer),
        "info": packer.plain(facts, "info"),
        "encoder": packer.plain(encoder, "encoder"),
    }
    write_model_file(path, header, packer.tensors)


def load(path: str | os.PathLike[str], *, max_bytes: int = MAX_BYTES) -> Any:
    """Return the fitted model that a file holds; nothing in the file is ever executed.

    Parameters
    ----------
    path : path
        A file that `fairpca.save` wrote.
    max_bytes : int
        Larger files are refused before they are read.

    Returns
    -------
    model : estimator or FairModel
        As it was saved: the same class, parameters and learned attributes, and the same bits from
        `transform`.

    Raises
    ------
    ModelFileError
        If the file is missing, not a model, truncated, altered, too large, or written by a later
        version in a format that this one does not know.

    See Also
    --------
    save : The way there.
    fairpca.models.read_header : What a file says about itself.

    Examples
    --------
    >>> from fairpca.models import load
    >>> load("missing.fairpca")
    Traceback (most recent call last):
    fairpca.errors.ModelFileError: 'missing.fairpca' does not exist. Check the path.
    """
    return _opened(path, max_bytes)[1]


def read_header(path: str | os.PathLike[str], *, max_bytes: int = MAX_BYTES) -> dict[str, Any]:
    """Return what a model file says about itself, after the same checks as `fairpca.load`.

    Parameters
    ----------
    path : path
        A file that `fairpca.save` wrote.
    max_bytes : int
        Larger files are refused before they are read.

    Returns
    -------
    header : dict
        ``format_version, kind, class, created, versions, fingerprint, info, left_out, sha256``,
        and of the estimator ``parameters, n_rows, n_features, feature_names, groups``.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> from fairpca import FairPCA, save
    >>> from fairpca.models import read_header
    >>> X = np.random.default_rng(0).normal(size=(100, 4))
    >>> fair = FairPCA(2).fit(X, sensitive_features={"sex": ["f", "m"] * 50})
    >>> path = f"{tempfile.mkdtemp()}/model.fairpca"
    >>> save(fair, path, info={"data": "made up"})
    >>> header = read_header(path)
    >>> header["class"], header["n_rows"], header["groups"], header["info"]
    ('FairPCA', 100, {'sex': ['f', 'm']}, {'data': 'made up'})
    """
    header, model = _opened(path, max_bytes)
    estimator = model.estimator if isinstance(model, FairModel) else model
    names = ("format_version", "kind", "class", "created", "versions", "left_out", "sha256")
    return {name: header.get(name) for name in names} | {
        "fingerprint": header["info"].get("fingerprint"),
        "info": header["info"],
        "parameters": estimator.get_params(deep=False),
        "n_rows": vars(estimator).get("n_samples_seen_"),
        "n_features": estimator.n_features_in_,
        "feature_names": list(vars(estimator).get("feature_names_in_", ())),
        "groups": vars(estimator).get("groups_", {}),
    }


def _opened(path: str | os.PathLike[str], max_bytes: int) -> tuple[dict[str, Any], Any]:
    header, tensors = read_model_file(path, max_bytes=max_bytes)
    try:
        header["info"] = unplain(header["info"], tensors)
        if not isinstance(header["info"], dict):
            raise ModelFileError("has contents of no model")
        return header, _model(header, tensors)
    except (ValueError, TypeError, KeyError, AttributeError, IndexError, OverflowError) as reason:
        told = str(reason) if isinstance(reason, ModelFileError) else "has contents of no model"
        raise ModelFileError(f"{os.fspath(path)!r} {told.removesuffix('.')}.") from reason


def _model(header: Mapping[str, Any], tensors: Mapping[str, np.ndarray]) -> Any:
    estimator = made_estimator(header, tensors)
    if header["kind"] == ESTIMATOR:
        return estimator
    if header["kind"] != FAIR_MODEL:
        raise ModelFileError(f"is of the kind {str(header['kind'])[:40]!r}, which is not known")
    try:
        encoder = unplain(header["encoder"], tensors)
        if not isinstance(encoder, TableEncoder | None):
            raise ModelFileError("is something else")
    except ModelFileError as reason:
        raise ModelFileError(f"has preprocessing that cannot be restored: it {reason}") from reason
    return FairModel(encoder, estimator, header["info"])
