"""From a table to a model that is shared: `FairTableTransformer`, `save` and `load`."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from datetime import UTC, datetime
from inspect import signature
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted

from .._attributes import check_frames
from .._files import Packer, RationedArrays, keep_existing, library_versions, unplain
from .._maps import AffineMap, FeatureMap
from .._numerics import is_foreign, to_numpy
from ..errors import ExportError, ModelFileError, UsageError
from ..estimators import FLOATS
from ..io import in_memory_or_file
from ..metrics import mean_gap
from ..tables import (
    ColumnWeight,
    TableEncoder,
    are_many,
    in_memory,
    is_large,
    is_on_disk,
    read_table,
)
from ._estimator_state import MAX_PARAMETERS, made_estimator, n_columns, plain_estimator
from ._explain import contributions
from ._fit_table import TableOptions, fit_in_memory
from ._large_tables import fit_on_disk
from ._model_file import FORMAT, MAX_BYTES, VERSION, read_model_file, write_model_file
from ._plans import as_table

MOST_ROWS_OF_MEDIANS, FEWEST_ROWS_OF_MEDIANS = 20_000, 20
"""Medians are those of about so many rows, and of groups that have so many of them."""

ESTIMATOR, TABLE_TRANSFORMER = "estimator", "table transformer"


class FairTableTransformer(TransformerMixin, BaseEstimator):
    """Table encoder and fair projection as one estimator, for DataFrames and files.

    Columns of any kind become numbers, and the estimator of `method` is fitted to them. Sensitive
    columns are used by `fit`, are never features, and need not be there afterwards. `fairpca.audit`
    measures on the same table which models still predict the groups.

    Parameters
    ----------
    sensitive : str or sequence of str, default=None
        Columns with sensitive attributes. Required, but for built-in data sets.
    target : str, default=None
        Column with the outcome, which is not a feature. Its values matter for fair PLS, which
        predicts them, and for criteria other than demographic parity, where it has to be binary.
    method : {"fair_pca", "fair_pls", "fair_kernel_pca", "leace", "pca"}, default="fair_pca"
        What to fit to the encoded columns. "fair_pls" keeps the few columns that predict the
        target: use it where you have one.
    n_components : int, default=None
        Number of components. None is at most 15, and for fair PLS as many as the target needs.
        LEACE keeps all columns.
    match : {"means", "covariances", "distributions"}, default=None
        What to make equal across groups. None is "distributions" for fair PLS, else "means".
        "covariances" is for fair PCA and fair PLS.
    tradeoff : float in [0, 1], default=0.0
        The paper's lambda. Above 0, lambda times the standard representation is appended to the
        fair one, and there is no guarantee.
    criterion : str, default="demographic_parity"
        Which rows are compared. "demographic_parity": all rows. "equal_opportunity": the rows of
        the positive class. "equalized_odds": the rows of each class, class by class.
    pos_label : object, default=None
        Value of the target that is the positive class. By default a word such as "yes", else the
        larger number, or the last in the alphabet, with a notice.
    given : str or sequence of str, default=()
        Columns that are legitimate factors: people whose factors are equal are compared
        (conditional demographic parity). Numbers of more than ten values, and dates, are regressed
        on, all else is compared level by level; rows that lack a value are compared with each
        other. A factor stays a feature unless it is ignored, too. Given numbers, `match` is "means"
        by default.
    ignore : sequence of str, default=()
        Columns to leave out, such as identifiers.
    weight : str, default=None
        Column of numbers >= 0: how much each row counts, such as in a survey. It is not a feature.
        Means, variances and the constraint are those of the weighted rows; columns are
        standardised without weights.
    sensitive_kinds : dict, default=None
        Declares sensitive columns as "categorical" or "numeric", by name. By default floats with
        fractions are numeric, and everything else is categorical, including integer values.
    target_kinds : dict, default=None
        Declares the target of fair PLS as "categorical" or "numeric", by name. By default floats
        with fractions are numeric, and everything else is classes; two values, or `pos_label`, make
        it binary.
    intersectional : bool, default=False
        Whether to compare the joint groups of all categorical attributes (every combination)
        instead of each attribute's groups.
    scale : {"standard", "rank"}, default="standard"
        Whether to standardise numbers themselves, or their ranks: use "rank" for skewed columns,
        and for columns with values far from all others.
    missing : sequence of float, default=()
        Numbers that stand for missing values of features, such as 99999 and -999.
    seed : int, default=0
        The same seed gives the same numbers.
    options : dict, default=None
        More parameters of the estimator, such as ``covariance_tol``, which is 0.05 here: groups
        of real tables seldom have equal covariances in many dimensions. Fair PLS has
        ``kernel="rbf"``; with None the model holds no rows of the table.
    reading : dict, default=None
        How to read files: `columns`, `header`, `skip_lines` and `encoding`, as in
        `fairpca.tables.read_table`.
    n_jobs : int, default=None
        Threads that read and encode files in batches, with the same result to the last bit. None
        uses as many as BLAS may use, and reads a single file of moderate size into memory.

    Attributes
    ----------
    encoder_ : TableEncoder or None
        Fitted preprocessing: columns of any kind become numbers. None if rows are numbers already.
    estimator_ : estimator
        What was fitted to the encoded rows: `fairpca.FairPCA` and so on.
    info_ : dict
        Plain facts: ``sensitive``, ``target``, ``data``, ``fingerprint``, ``median_gap`` (for a
        table in memory: `fairpca.metrics.mean_gap` with ``robust=True``), and numbers that were
        measured, such as ``leakage_before`` and ``leakage_after``; ``notices`` has the texts of
        `fairpca.tables.check_columns`.

    See Also
    --------
    fit_table : Makes and fits one in one call.
    fairpca.models.model_card : Describes the model in Markdown.
    fairpca.audit : Recommends what to fit, and measures what it costs.

    Notes
    -----
    User guide: :doc:`/howto/models`.

    Examples
    --------
    How well a downstream model predicts new data, without their sensitive column:

    >>> import numpy as np
    >>> import pandas as pd
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.model_selection import cross_val_score
    >>> from sklearn.pipeline import make_pipeline
    >>> from fairpca import FairTableTransformer
    >>> rng = np.random.default_rng(0)
    >>> people = pd.DataFrame({"sex": rng.choice(["f", "m"], size=400)})
    >>> people["height"] = rng.normal(170, 7, size=400) + 13 * (people["sex"] == "m")
    >>> people["work"] = rng.choice(["day", "night"], size=400)
    >>> people["age"] = rng.integers(18, 80, size=400)
    >>> people["paid"] = people["age"] + rng.normal(size=400) * 20 > 50
    >>> model = FairTableTransformer("sex", "paid", n_components=2)
    >>> pipeline = make_pipeline(model, LogisticRegression())
    >>> auc = cross_val_score(pipeline, people, people["paid"], scoring="roc_auc")
    >>> print(f"{auc.mean():.1f}")
    0.8
    """

    def __init__(
        self,
        sensitive: str | Sequence[str] | None = None,
        target: str | None = None,
        *,
        method: str | None = "fair_pca",
        n_components: int | None = None,
        match: str | None = None,
        tradeoff: float = 0.0,
        criterion: str = "demographic_parity",
        pos_label: Any = None,
        given: str | Sequence[str] = (),
        ignore: str | Sequence[str] = (),
        weight: str | None = None,
        sensitive_kinds: Mapping[str, str] | None = None,
        target_kinds: Mapping[str, str] | None = None,
        intersectional: bool = False,
        scale: str = "standard",
        missing: Sequence[float] = (),
        seed: int = 0,
        options: Mapping[str, Any] | None = None,
        reading: Mapping[str, Any] | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.sensitive = sensitive
        self.target = target
        self.method = method
        self.n_components = n_components
        self.match = match
        self.tradeoff = tradeoff
        self.criterion = criterion
        self.pos_label = pos_label
        self.given = given
        self.ignore = ignore
        self.weight = weight
        self.sensitive_kinds = sensitive_kinds
        self.target_kinds = target_kinds
        self.intersectional = intersectional
        self.scale = scale
        self.missing = missing
        self.seed = seed
        self.options = options
        self.reading = reading
        self.n_jobs = n_jobs

    @classmethod
    def of(cls, encoder: Any, estimator: Any, info: Mapping[str, Any] | None = None) -> Self:
        """Return the model of parts that were fitted separately; it cannot be fitted again.

        Parameters
        ----------
        encoder : TableEncoder or None
            Fitted preprocessing; None if rows are numbers already.
        estimator : estimator
            A fair estimator that was fitted to what the encoder returns.
        info : dict, default=None
            Plain facts to keep with the model.

        Returns
        -------
        model : FairTableTransformer
            The fitted model.
        """
        check_is_fitted(estimator)
        estimator._ensure_solved()
        model = cls(method=None)
        model.encoder_, model.estimator_, model.info_ = encoder, estimator, dict(info or {})
        wanted = n_columns(model._map)
        given = wanted if encoder is None else len(encoder.get_feature_names_out())
        if wanted != given:
            raise UsageError(
                f"The encoder makes {given} columns, but the estimator was fitted to {wanted}. "
                f"Fit it to what this encoder returns."
            )
        return model

    def fit(self, X: Any, y: Any = None, *, sample_weight: Any = None) -> Self:
        """Learn what the columns of a table are, and fit the representation to its rows.

        Parameters
        ----------
        X : DataFrame, result of a query, Table, path, or sequence of paths
            A table in memory, a file, or the name of a built-in data set, as in `fairpca.audit`; or
            several files of the same columns, as a pattern (``"loans/*.parquet"``), a folder or a
            list. These, and files of more than a million rows or 500 MB, are read in batches.
            A relation of DuckDB, a lazy frame of polars, and a reader or data set of Arrow are read
            once; so large ones are kept in a temporary Parquet file while they are fitted to.
        y : array-like of shape (n_samples,), default=None
            What is to be predicted, as cross-validation passes it with a table in memory. Where
            the values of the target matter, these are taken, and its column need not be there.
        sample_weight : array-like of shape (n_samples,), default=None
            How much each row of a table in memory counts, instead of a column `weight`.

        Returns
        -------
        self : FairTableTransformer
            The fitted model.

        Notes
        -----
        Tables that are read in batches are read twice, in bounded memory. First the groups are
        counted over all rows, and what the columns are is learned from up to 200,000 rows drawn at
        random; then all rows are encoded and summed up. Up to 200,000 rows, the result is that of a
        table in memory. Fair PLS goes over all rows several times to compare distributions.
        Where there are more, a level of a feature that is not among the drawn rows is unknown to
        the model, and ``info_["unknown_levels"]`` counts its rows; a text in a column of numbers is
        an error.
        """
        return self._fit(X, y, sample_weight)

    def _fit(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        progress: Callable[[int, int | None, str], None] | None = None,
    ) -> Self:
        beside = {"y": y, "sample_weight": sample_weight}
        if given := {name: values for name, values in beside.items() if values is not None}:
            X = in_memory(X)  # with which they are in one order
        with in_memory_or_file(X) as table:
            self._fit_rows(table, given, progress)
        if table is not X and is_on_disk(table):  # there is no such file any more
            del self.info_["files"], self.info_["n_files"]
        return self

    def _fit_rows(
        self,
        X: Any,
        given: Mapping[str, Any],
        progress: Callable[[int, int | None, str], None] | None,
    ) -> None:
        wanted = self._wanted()
        reading = dict(self.reading or {})
        y, sample_weight = given.get("y"), given.get("sample_weight")
        if y is not None and is_on_disk(X):
            raise UsageError(
                "y is for a table in memory, whose rows are in its order, but this one is on disk. "
                "Name the column: target=..."
            )
        if sample_weight is not None and (self.weight is not None or is_on_disk(X)):
            where = "on disk" if self.weight is None else f"weighted by weight={self.weight!r}"
            raise UsageError(
                f"sample_weight is for a table in memory, but this one is {where}. Pass one of "
                f"the two: sample_weight=..., or a column of the table, weight=..."
            )
        if given:
            check_frames(X=X, **given)
        if is_on_disk(X) and (self.n_jobs is not None or are_many(X) or is_large(X)):
            fitted = fit_on_disk(X, reading, wanted, self.n_jobs, progress)
        else:
            if isinstance(X, str | os.PathLike):
                X = read_table(X, **reading)
            elif any(value not in (None, 0) for value in reading.values()):
                raise UsageError(
                    f"reading={reading!r} tells how to read text files, but this table is in "
                    f"memory. Leave it out."
                )
            X = as_table(X)
            fitted = fit_in_memory(X, wanted, y, sample_weight)
        self.encoder_, self.estimator_, self.info_ = fitted
        if not is_on_disk(X):
            self.info_ |= self._gap_of_medians(X.frame)

    def _gap_of_medians(self, frame: Any) -> dict[str, float]:
        """Return how far medians of groups are apart, which few values far from others hide not."""
        if self.criterion != "demographic_parity" or len(self.given):
            return {}
        frame = frame.iloc[:: max(1, len(frame) // MOST_ROWS_OF_MEDIANS)]
        T, gaps = np.asarray(self.transform(frame)), []
        for name, levels in vars(self.estimator_).get("groups_", {}).items():
            if name in frame and not isinstance(levels, str):
                codes = frame[name].factorize()[0]  # -1 where there is none
                counts = np.bincount(codes + 1)[1:]
                known = (codes >= 0) & np.append(counts >= FEWEST_ROWS_OF_MEDIANS, False)[codes]
                if len(np.unique(codes[known])) > 1:
                    gaps.append(mean_gap(T[known], codes[known].astype(str), robust=True))
        return {"median_gap": max(gaps)} if gaps else {}

    def _wanted(self) -> TableOptions:
        wanted = TableOptions(**{one.name: getattr(self, one.name) for one in fields(TableOptions)})
        wanted.check()
        return wanted

    def __sklearn_is_fitted__(self) -> bool:
        return "estimator_" in vars(self)

    @property
    def feature_names_in_(self) -> np.ndarray:
        """Columns of the table that are features."""
        check_is_fitted(self)
        names = (self.estimator_ if self.encoder_ is None else self.encoder_).feature_names_in_
        return np.asarray(names, dtype=object)

    @property
    def n_features_in_(self) -> int:
        """How many columns of the table are features."""
        check_is_fitted(self)
        alone: int = self.estimator_.n_features_in_
        return alone if self.encoder_ is None else len(self.feature_names_in_)

    @property
    def _map(self) -> AffineMap | FeatureMap:
        """The map on encoded rows, in NumPy arrays; a `FeatureMap` is one of kernel values."""
        check_is_fitted(self)
        fitted: AffineMap | FeatureMap = self.estimator_._map
        if isinstance(fitted, AffineMap) and is_foreign(fitted.mean):
            return fitted.converted(to_numpy)
        return fitted

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Return the names of the columns of the representation.

        Parameters
        ----------
        input_features : array-like of str, default=None
            Ignored; there for the interface of scikit-learn.

        Returns
        -------
        names : ndarray of str
            The names of the estimator: ``fairpca0, fairpca1, ...``.
        """
        check_is_fitted(self)
        return np.asarray(self.estimator_.get_feature_names_out())

    def transform(self, X: Any) -> Any:
        """Return the representation of the rows of a table.

        Parameters
        ----------
        X : frame, or array-like of shape (n_samples, n_features) where there is no encoder
            Rows with the columns of the training data; sensitive ones are not needed.

        Returns
        -------
        T : ndarray of shape (n_samples, n_components), or frame
            The representation; a frame if `set_output` asks for it.
        """
        check_is_fitted(self)
        if self.encoder_ is None:
            return np.asarray(self.estimator_.transform(X))
        # The encoder has checked the names of the columns; the estimator's are its own.
        encoded = check_array(self.encoder_.transform(X), dtype=FLOATS, ensure_min_samples=0)
        if len(encoded) == 0:  # a batch of a stream may be empty
            return np.empty((0, len(self.get_feature_names_out())))
        return np.asarray(self.estimator_._represent(encoded))

    def explain(self, row: Any) -> Any:
        """Return what each column of one person's row adds to each component.

        For a linear model on the components, ``explain(row).iloc[:, 1:] @ model.coef_[0]`` is what
        each column adds to its score.

        Parameters
        ----------
        row : frame of one row, or dict of a value per column
            The person; sensitive columns are not needed. Also a row of a pandas frame, or of an
            array where there is no encoder.

        Returns
        -------
        contributions : pandas.DataFrame
            A row for each column of the table that the model uses: its ``value``, and what it adds
            to each component, beside the average row of the fit. Then "(average)": what the
            components of that row are. All rows add up to what `transform` returns. With a kernel
            a column adds what would change were it at its average, and a last row, "(jointly)", is
            what columns do together.

        Raises
        ------
        UsageError
            If there are several rows; or no encoder and a kernel, so that no average is known.

        See Also
        --------
        column_weights : What a unit of each column, or a level, adds for everybody.

        Notes
        -----
        User guide: :doc:`/howto/explaining`.

        Examples
        --------
        >>> import numpy as np
        >>> import pandas as pd
        >>> from fairpca import fit_table
        >>> rng = np.random.default_rng(0)
        >>> people = pd.DataFrame({"sex": rng.choice(["f", "m"], size=200)})
        >>> people["income"] = rng.normal(3000, 800, size=200)
        >>> people["job"] = rng.choice(["nurse", "cook", "smith"], size=200)
        >>> model = fit_table(people, "sex", n_components=1)
        >>> told = model.explain({"income": 4000, "job": "cook"})
        >>> told.index.tolist()
        ['income', 'job', '(average)']
        >>> told["value"].tolist()
        [4000, 'cook', None]
        >>> T = model.transform(pd.DataFrame({"income": [4000], "job": ["cook"]}))
        >>> bool(np.allclose(told["fairpca0"].sum(), T))
        True
        """
        check_is_fitted(self)
        return contributions(self, row)

    def column_weights(self, coef: Any) -> list[ColumnWeight]:
        """Return weights of the components as weights of the table's columns, in their own units.

        Parameters
        ----------
        coef : array-like of shape (n_components,) or (1, n_components)
            Weights of a linear model on the representation, such as its `coef_`.

        Returns
        -------
        weights : list of ColumnWeight
            As of `fairpca.tables.TableEncoder.column_weights`: one for a number, one per level of a
            category or part of a date or a text, each with its `weight` and its `effect`.

        Raises
        ------
        UsageError
            If the representation is no linear function of the columns, as with a kernel, or there
            is no encoder.

        See Also
        --------
        explain : What the columns of one person add.

        Examples
        --------
        >>> import numpy as np
        >>> import pandas as pd
        >>> from fairpca import fit_table
        >>> rng = np.random.default_rng(0)
        >>> people = pd.DataFrame({"sex": rng.choice(["f", "m"], size=200)})
        >>> people["income"] = rng.normal(3000, 800, size=200)
        >>> people["shift"] = rng.choice(["day", "night"], size=200)
        >>> model = fit_table(people, "sex", n_components=1)
        >>> [row.what for row in model.column_weights([1.0])]
        ['one more', 'day', 'night']
        """
        check_is_fitted(self)
        if self.encoder_ is None:
            raise UsageError(
                "This model has no encoder, so its columns are those of the estimator. Call "
                "model.estimator_.column_weights(coef)."
            )
        weights, _ = self.estimator_.column_weights(coef)
        found: list[ColumnWeight] = self.encoder_.column_weights(weights)
        return found

    def save(
        self, path: str | os.PathLike[str], *, moments: bool = False, overwrite: bool = False
    ) -> None:
        """Write the model to a file, as `fairpca.save` does.

        Parameters
        ----------
        path : path
            Where the file will be, ``model.fairpca`` by custom.
        moments : bool, default=False
            Whether the file holds the sums that `partial_fit` of the estimator continues from.
        overwrite : bool, default=False
            Whether a file of this name is replaced, in one step; else it is kept.

        Raises
        ------
        ExistingFileError
            If there is a file of this name, which is not to be replaced.
        """
        save(self, path, moments=moments, overwrite=overwrite)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Return the model that a file holds; a bare estimator becomes one without an encoder.

        Parameters
        ----------
        path : path
            A file that `save` wrote.

        Returns
        -------
        model : FairTableTransformer
            The model as it was saved.

        Raises
        ------
        ModelFileError
            If the file is not a model, as in `fairpca.load`.
        """
        header, model = _opened(path, MAX_BYTES)
        return model if isinstance(model, cls) else cls.of(None, model, header["info"])


def _names(function: Callable[..., Any]) -> set[str]:
    return set(signature(function).parameters)


def fit_table(
    table: Any,
    sensitive: str | Sequence[str] | None = None,
    target: str | None = None,
    *,
    vectors: Any = None,
    progress: Callable[[int, int | None, str], None] | None = None,
    **more: Any,
) -> FairTableTransformer:
    """Fit a fair representation to a table with columns of any kind, ready to be saved.

    Parameters
    ----------
    table : DataFrame, result of a query, Table, path, or sequence of paths
        A table in memory; a relation of DuckDB, a lazy frame of polars, a reader or data set of
        Arrow; a file; several files of the same columns, as a pattern (``"loans/*.parquet"``), a
        folder or a list; or the name of a built-in data set. Large tables that are not in memory,
        and several files, are read in batches.
    sensitive : str or sequence of str, default=None
        Columns with sensitive attributes. Required, but for built-in data sets.
    target : str, default=None
        Column with the outcome, which is not a feature.
    vectors : path or array-like of shape (n_samples, n_dimensions), default=None
        A vector for each row, such as the embedding of a text, beside the table: a file that
        `numpy.save` wrote, or an array. It becomes a column, called as the file is, or "vectors".
        The table is read into memory as a whole.
    progress : callable, default=None
        Called with the rows done, the rows there are (None where unknown) and what is being done,
        while files are read in batches.
    **more
        Other parameters of `FairTableTransformer`, such as ``method`` and ``n_components``; those
        of its ``reading``, such as ``encoding``; all others are ``options`` for the estimator, such
        as ``covariance_tol``.

    Returns
    -------
    model : FairTableTransformer
        The fitted model, with `transform` for frames of the same columns (sensitive ones are not
        needed) and `save`.

    See Also
    --------
    FairTableTransformer : The result, with all parameters.
    save : Writes it to a file.
    audit : Recommends what to fit, and measures what it costs.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> from fairpca import fit_table
    >>> rng = np.random.default_rng(0)
    >>> people = pd.DataFrame({"sex": rng.choice(["f", "m"], size=200)})
    >>> people["height"] = rng.normal(170, 7, size=200) + 13 * (people["sex"] == "m")
    >>> people["shoe"] = people["height"] / 4 + rng.normal(size=200)
    >>> people["age"] = rng.integers(18, 80, size=200)
    >>> model = fit_table(people, "sex", n_components=2)
    >>> model.transform(people.drop(columns="sex")).shape
    (200, 2)
    """
    known = _names(FairTableTransformer)
    own = {name: more.pop(name) for name in known.intersection(more)}
    files = {name: more.pop(name) for name in _names(read_table).intersection(more)}
    own["reading"] = {**(own.get("reading") or {}), **files} or None
    if vectors is not None:
        if are_many(table):
            raise UsageError(
                "vectors=... has a vector for each row of one table, but several files are named. "
                "Make one file of them, or write the vectors into them as a column of Parquet."
            )
        if is_on_disk(table):
            table = read_table(table, **(own.pop("reading") or {}))
        table = as_table(table, vectors)
    own["options"] = {**(own.get("options") or {}), **more} or None
    return FairTableTransformer(sensitive, target, **own)._fit(table, progress=progress)


def fitted_model(model: Any, info: Mapping[str, Any] | None = None) -> FairTableTransformer:
    """Return a model as it is shared, also of an estimator by itself; raise if not fitted."""
    if not isinstance(model, FairTableTransformer):
        return FairTableTransformer.of(None, model, info)
    check_is_fitted(model)
    return model


def save(
    model: Any,
    path: str | os.PathLike[str],
    *,
    info: Mapping[str, Any] | None = None,
    moments: bool = False,
    overwrite: bool = False,
) -> None:
    """Write a fitted model to a file that holds numbers and text only, never code.

    Parameters
    ----------
    model : estimator or FairTableTransformer
        `fairpca.FairPCA`, `fairpca.FairKernelPCA` with a built-in kernel, an eraser
        (`fairpca.erasers.LEACE` and so on), or one of them with its preprocessing. An exact kernel
        model holds its training data, and so does its file.
    path : path
        Where the file will be, ``model.fairpca`` by custom.
    info : dict, default=None
        Plain facts to keep with an estimator: ``data``, ``fingerprint``, ``sensitive``, ``target``,
        numbers. A `FairTableTransformer` has its own.
    moments : bool, default=False
        Whether the file holds the weights, means and scatters of all groups, from which
        `partial_fit` continues after loading. They are statistics about people, and may be
        thousands of times as large as the map, which is all that `transform` needs.
    overwrite : bool, default=False
        Whether a file of this name is replaced, in one step; else it is kept.

    Raises
    ------
    ExportError
        If the model holds a function, a random generator, or labels that are not plain; or with
        ``moments=True``, if it kept none, or these are the rows themselves.
    ExistingFileError
        If there is a file of this name, which is not to be replaced.

    See Also
    --------
    load : Reads the file.

    Notes
    -----
    User guide: :doc:`/howto/models`.

    What is left out is listed in the header, which `fairpca.models.inspect_model` returns.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> from fairpca import FairPCA
    >>> from fairpca import load, save
    >>> rng = np.random.default_rng(0)
    >>> sex = rng.choice(["f", "m"], size=100)
    >>> X = rng.normal(size=(100, 4))
    >>> fair = FairPCA(n_components=2).fit(X, sensitive_features=sex)
    >>> path = f"{tempfile.mkdtemp()}/model.fairpca"
    >>> save(fair, path, info={"data": "synthetic"})
    >>> bool((load(path).transform(X) == fair.transform(X)).all())
    True
    """
    kind, estimator, encoder, asked, output = ESTIMATOR, model, None, {}, None
    if isinstance(model, FairTableTransformer):
        check_is_fitted(model)
        if info is not None:
            raise ExportError(
                "A FairTableTransformer has its own info_, so info=... would hide it. Put the "
                "facts there: model.info_.update(...)."
            )
        kind, estimator, encoder, info = (
            TABLE_TRANSFORMER,
            model.estimator_,
            model.encoder_,
            model.info_,
        )
        asked = model.get_params(deep=False)
        output = vars(model).get("_sklearn_output_config", {}).get("transform")
    if not isinstance(encoder, TableEncoder | None):
        raise ExportError(
            f"The encoder is a {type(encoder).__name__}, and model files hold a "
            f"fairpca.tables.TableEncoder. For other preprocessing make a scikit-learn pipeline "
            f"and write it with skops: see fairpca.models.trusted_types."
        )
    packer, facts = Packer(), dict(info or {})
    header = {
        "format": FORMAT,
        "format_version": VERSION,
        "kind": kind,
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "versions": library_versions(),
        "fingerprint": packer.plain(facts.get("fingerprint"), "info['fingerprint']"),
        **plain_estimator(estimator, packer, moments=moments),
        "info": packer.plain(facts, "info"),
        "encoder": packer.plain(encoder, "encoder"),
        "output": output,
        "table_parameters": {
            k: packer.plain(v, f"FairTableTransformer.{k}") for k, v in asked.items()
        },
    }
    keep_existing(path, overwrite=overwrite)
    write_model_file(path, header, packer.tensors)


def load(path: str | os.PathLike[str], *, max_bytes: int = MAX_BYTES) -> Any:
    """Return the fitted model that a file holds; nothing in the file is ever executed.

    Parameters
    ----------
    path : path
        A file that `fairpca.save` wrote.
    max_bytes : int, default=2147483648
        Larger files raise an error before they are read.

    Returns
    -------
    model : estimator or FairTableTransformer
        The model as it was saved: the same class, parameters and learned attributes, and the same
        bits from `transform`.

    Raises
    ------
    ModelFileError
        If the file is missing, not a model, truncated, altered, too large, or written by a later
        version in a format that this one does not know.

    See Also
    --------
    save : Writes the file.
    fairpca.models.inspect_model : Returns what a file says about itself.

    Examples
    --------
    >>> from fairpca import load
    >>> load("missing.fairpca")
    Traceback (most recent call last):
    fairpca.errors.ModelFileError: 'missing.fairpca' does not exist. Check the path.
    """
    return _opened(path, max_bytes)[1]


def inspect_model(path: str | os.PathLike[str], *, max_bytes: int = MAX_BYTES) -> dict[str, Any]:
    """Return what a model file says about itself, after the same checks as `fairpca.load`.

    Parameters
    ----------
    path : path
        A file that `fairpca.save` wrote.
    max_bytes : int, default=2147483648
        Larger files raise an error before they are read.

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
    >>> from fairpca.models import inspect_model
    >>> X = np.random.default_rng(0).normal(size=(100, 4))
    >>> fair = FairPCA(2).fit(X, sensitive_features={"sex": ["f", "m"] * 50})
    >>> path = f"{tempfile.mkdtemp()}/model.fairpca"
    >>> save(fair, path, info={"data": "synthetic"})
    >>> header = inspect_model(path)
    >>> header["class"], header["n_rows"], header["groups"], header["info"]
    ('FairPCA', 100, {'sex': ['f', 'm']}, {'data': 'synthetic'})
    """
    header, model = _opened(path, max_bytes)
    estimator = model.estimator_ if isinstance(model, FairTableTransformer) else model
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
    if header["kind"] != TABLE_TRANSFORMER:
        raise ModelFileError(f"is of the kind {str(header['kind'])[:40]!r}, which is not known")
    try:
        encoder = unplain(header["encoder"], tensors)
        if not isinstance(encoder, TableEncoder | None):
            raise ModelFileError("is something else")
    except ModelFileError as reason:
        raise ModelFileError(f"has preprocessing that cannot be restored: it {reason}") from reason
    model = FairTableTransformer.of(encoder, estimator, header["info"])
    few = RationedArrays(tensors, MAX_PARAMETERS)
    asked = {k: unplain(v, few) for k, v in header["table_parameters"].items()}
    if asked.get("method") is not None:
        model.set_params(**asked)._wanted()
    output = header.get("output")
    return model.set_output(transform=output) if output in ("pandas", "polars") else model
