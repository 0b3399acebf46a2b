"""Texts of many kinds: groups of letters, weighted, and their leading combinations."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer

from ..errors import UsageError
from ._adapters import string_encoder
from ._frozen_column import MISSING_SHARE, Arrays, Learned, Plain, moments
from ._text_values import distinct_texts

COMPONENTS = 10
MOST_NGRAMS = 20_000
"""N-grams beyond this number, the rarest, are not looked at: a model stays of bounded size."""

ROWS_TO_LEARN_FROM = 20_000
"""Of longer columns this many rows, evenly spread, tell which groups of letters matter."""


@dataclass(frozen=True, eq=False)
class TextColumn:
    """Combinations of the weights of 3 and 4 letters in a row, as in skrub's StringEncoder.

    Parameters
    ----------
    name : str
        The column.
    vocabulary : tuple of V str
        The n-grams that are looked at, sorted.
    idf : array of shape (V,)
        Their weights: rare ones weigh more.
    components : array of shape (V, c)
        What the weighted n-grams of a text are multiplied with.
    indicator : bool
        Whether "missing" is an output; a missing text has no n-grams.
    """

    name: str
    vocabulary: tuple[str, ...]
    idf: np.ndarray
    components: np.ndarray
    indicator: bool = False

    @property
    def outputs(self) -> list[str]:
        """Names of the outputs."""
        names = [f"{self.name}_{i}" for i in range(self.components.shape[1])]
        return [*names, f"{self.name}_missing"] if self.indicator else names

    @cached_property
    def vectorizer(self) -> TfidfVectorizer:
        """What counts and weights n-grams."""
        made = TfidfVectorizer(
            analyzer="char_wb", ngram_range=(3, 4), vocabulary=list(self.vocabulary)
        )
        made.idf_ = self.idf
        return made

    def rows(self, array: Any) -> tuple[np.ndarray, np.ndarray]:
        """Return the text of each row, and the numbers for each text."""
        codes, texts = distinct_texts(array)
        values = self.vectorizer.transform([text or "" for text in texts]) @ self.components
        if not self.indicator:
            return codes, values
        return codes, np.column_stack([values, [text is None for text in texts]])

    def to_plain(self) -> tuple[Plain, Arrays]:
        """Return the learned data."""
        plain = {
            "kind": "text",
            "name": self.name,
            "vocabulary": list(self.vocabulary),
            "indicator": self.indicator,
        }
        return plain, {"idf": self.idf, "components": self.components}

    @classmethod
    def from_plain(cls, plain: Plain, arrays: Arrays) -> TextColumn:
        """Return what `to_plain` was called on."""
        idf, components = arrays["idf"], arrays["components"]
        fitting = components.ndim == 2 and components.shape[:1] == idf.shape
        if not fitting or len(plain["vocabulary"]) != len(idf):
            raise UsageError(f"the arrays of column '{plain['name']}' do not fit each other")
        return cls(plain["name"], tuple(plain["vocabulary"]), idf, components, plain["indicator"])


def fit_texts(name: str, array: Any, note: str = "") -> Learned:
    """Learn which groups of letters tell the texts of a column apart."""
    codes, texts = distinct_texts(array)
    counts = np.bincount(codes, minlength=len(texts))
    n_missing = int(counts[-1])
    step = max(1, -(-len(codes) // ROWS_TO_LEARN_FROM))
    vocabulary, idf, components = _letters([texts[code] or "" for code in codes[::step]])
    indicator = n_missing > MISSING_SHARE * len(codes)
    column = TextColumn(name, vocabulary, idf, components, indicator)
    _, values = column.rows(array)
    mean, scale = moments(values, counts)
    n_distinct = int(np.count_nonzero(counts[:-1]))
    return Learned(column, "text", n_missing, n_distinct, mean, scale, note)


def _letters(texts: list[str]) -> tuple[tuple[str, ...], np.ndarray, np.ndarray]:
    """Return vocabulary, weights and components as skrub finds them."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # with few n-grams there are fewer components, as wanted
        fitted = string_encoder(texts, COMPONENTS)
        if len(fitted.vectorizer_.vocabulary_) > MOST_NGRAMS:
            common = np.argsort(fitted.vectorizer_.idf_, kind="stable")[:MOST_NGRAMS]
            names = fitted.vectorizer_.get_feature_names_out()[np.sort(common)]
            fitted = string_encoder(texts, COMPONENTS, list(names))
    vectorizer = fitted.vectorizer_
    vocabulary = tuple(map(str, vectorizer.get_feature_names_out()))
    if hasattr(fitted, "tsvd_"):
        components = fitted.tsvd_.components_.T.astype(float)
    else:
        components = np.eye(len(vocabulary))[:, :COMPONENTS]
    return vocabulary, vectorizer.idf_.astype(float), components / float(fitted.scaling_factor_)
