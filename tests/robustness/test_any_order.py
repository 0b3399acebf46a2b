"""Batches, sums, files and copies in any order give what one fit to all rows gives.

The model is simple: all rows that were accepted, in a list. The textbook's sums over that list
are what the moments must be, up to rounding; and a refused batch changes nothing.
"""

import copy
import pickle
import tempfile
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from sklearn.base import clone

from fairpca import FairPCA, FairTableTransformer, load, save
from fairpca.errors import ExportError
from fairpca.moments import collect_moments
from robustness.certificates import assert_is_a_refusal
from robustness.effort import count, effort
from robustness.kept_rows import BATCHES, SPOILED, KeptRows, batch_of, same_rows
from robustness.nasty_data import CONTAINERS

BY_NAME = {container.__name__: container for container in CONTAINERS}
SETTINGS = [
    {},
    {"scale": True},
    {"match": "covariances", "covariance_method": "spectral", "covariance_directions": 1.0},
    {"criterion": "equalized_odds"},
    {"criterion": "equal_opportunity"},
    {"missing_sensitive": "ignore"},
    {"missing_sensitive": "group"},
    {"missing_sensitive": "ignore", "intersectional": True},
]


class AnyOrder(RuleBasedStateMachine):
    """A `FairPCA` in any state that its methods can bring it to."""

    def __init__(self):
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()

    def teardown(self):
        self.folder.cleanup()

    @initialize(
        setting=st.sampled_from(SETTINGS),
        d=st.sampled_from([6, 4, 1, 12]),
        numeric=st.booleans(),
        offset=st.sampled_from([0.0, 1e3, 1e6]),
        first=st.none() | st.integers(0, 2**16),
    )
    def start(self, setting, d, numeric, offset, first):
        self.fair = FairPCA(**setting)
        self.model = KeptRows(setting, d, numeric, offset)
        self.started = False
        if first is not None:  # enough rows for a result
            self.add_a_batch((20, first, False), "array")

    def collect(self, batch):
        """Return the moments of a batch without an estimator."""
        options = dict(self.model.setting)
        covariances = options.pop("match", None) == "covariances"
        for only_of_estimators in ("scale", "covariance_method", "covariance_directions"):
            options.pop(only_of_estimators, None)
        return collect_moments(
            batch.X, batch.sensitive, y=batch.y, sample_weight=batch.weight,
            with_scatters=covariances, **options,
        )  # fmt: skip

    @rule(batch=BATCHES, container=st.sampled_from(sorted(BY_NAME)))
    def add_a_batch(self, batch, container):
        batch = batch_of(self.model, *batch, BY_NAME[container])
        count("partial_fit", container)
        if len(batch.rows) == 0:
            self.refused(partial(self.fair.partial_fit, batch.X, batch.y, **batch.options))
            return
        self.fair.partial_fit(batch.X, batch.y, **batch.options)
        self.model.accept(batch)
        self.started = True

    @rule(batch=BATCHES, how=st.sampled_from(sorted(SPOILED)))
    def a_bad_batch_is_refused(self, batch, how):
        good = batch_of(self.model, *batch, np.array)
        if len(good.rows) < 2:
            return
        bad = SPOILED[how](good, self.model)
        if bad is None or (how == "another width" and not self.started):
            return
        count("refused batch", how)
        self.refused(partial(self.fair.partial_fit, bad.X, bad.y, **bad.options))

    def refused(self, call):
        """The call is refused, and nothing has changed."""
        before = dict(vars(self.fair))
        with pytest.raises((ValueError, TypeError)) as refusal:
            call()
        assert_is_a_refusal(refusal.value)
        assert vars(self.fair).keys() == before.keys()
        assert all(vars(self.fair)[name] is before[name] for name in before)

    @precondition(lambda self: self.started)
    @rule(batch=BATCHES, mine_first=st.booleans())
    def add_moments_collected_lazily(self, batch, mine_first):
        batch = batch_of(self.model, *batch, np.array)
        if len(batch.rows) == 0 or "moments_" not in vars(self.fair):
            return
        theirs = self.collect(batch)
        mine = self.fair.moments_
        total = mine + theirs if mine_first else theirs + mine
        fair = clone(self.fair)
        try:
            fair.fit_moments(total)
        except ValueError as error:  # one group so far, or nothing left: not yet
            assert_is_a_refusal(error)
            count("merge", "refused")
            return
        count("merge", "done")
        self.model.accept(batch)
        if "moments_" in vars(fair):
            self.fair = fair
        else:  # so few rows that the moments are the rows: they are not kept
            self.fair.partial_fit(batch.X, batch.y, **batch.options)

    @precondition(lambda self: self.started)
    @rule(how=st.sampled_from(["pickle", "copy", "deep copy"]))
    def copy_it(self, how):
        count("copy", how)
        self.fair = {
            "pickle": lambda fair: pickle.loads(pickle.dumps(fair)),
            "copy": copy.copy,
            "deep copy": copy.deepcopy,
        }[how](self.fair)

    @precondition(lambda self: self.started)
    @rule(as_model=st.booleans())
    def save_and_load(self, as_model):
        path = Path(self.folder.name) / "model.fairpca"
        try:
            T = self.fair.transform(self.model.rows)
        except ValueError as error:
            assert_is_a_refusal(error)
            with pytest.raises(ValueError, match=r"."):
                save(self.fair, path)
            count("save and load", "refused")
            return
        model = FairTableTransformer.of(None, self.fair, {}) if as_model else self.fair
        try:
            save(model, path, moments=True, overwrite=True)
        except ExportError:  # there are none, or they are the rows
            save(model, path, overwrite=True)
        loaded = load(path)
        loaded = loaded.estimator_ if as_model else loaded
        np.testing.assert_array_equal(loaded.transform(self.model.rows), T)
        count("save and load", "done")
        if "moments_" in vars(loaded):
            self.fair = loaded

    @precondition(lambda self: self.started)
    @rule()
    def ask_for_the_result(self):
        self.model.check_result(self.fair)
        count("result", "checked")

    @precondition(lambda self: self.started)
    @rule()
    def fit_anew_to_all_rows(self):
        batch = same_rows(self.model)
        fair = clone(self.fair)
        try:
            fair.fit(batch.X, batch.y, **batch.options)
        except ValueError as error:
            assert_is_a_refusal(error)
            self.refused(partial(self.fair.fit, batch.X, batch.y, **batch.options))
            count("fit anew", "refused")
            return
        count("fit anew", "done")
        if "moments_" in vars(fair):
            self.fair = fair

    @invariant()
    def the_moments_are_those_of_all_rows(self):
        if getattr(self, "started", False) and "moments_" in vars(self.fair):
            self.model.check_moments(self.fair.moments_)


@pytest.mark.filterwarnings("ignore:X (has|does not have valid) feature names")
class TestAnyOrder(AnyOrder.TestCase):
    """Frames and arrays take turns, of which scikit-learn warns."""


TestAnyOrder.settings = effort(25, stateful_step_count=15)
