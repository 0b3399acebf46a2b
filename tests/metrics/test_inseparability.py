"""The error rate of a linear classifier of the attribute."""

import numpy as np
import pytest

from fairpca.errors import SingleGroupError
from fairpca.metrics import linear_inseparability


def test_separated_groups_have_no_errors_and_mixed_ones_about_half():
    rng = np.random.default_rng(0)
    z = rng.permutation(np.repeat([0, 1], 500))
    T = rng.normal(size=(1000, 2))
    assert linear_inseparability(T + 20 * z[:, None], z) == 0
    assert linear_inseparability(T, z) == pytest.approx(0.5, abs=0.05)


def test_errors_are_counted_on_the_test_rows_when_they_are_given():
    T, z = [[0.0], [1.0], [4.0], [5.0]], ["a", "a", "b", "b"]
    error = linear_inseparability(
        T, z, T_test=[[0.0], [1.0], [5.0]], attribute_test=["b", "a", "b"]
    )
    assert error == pytest.approx(1 / 3)


def test_test_rows_are_split_at_the_median_of_the_training_rows():
    T = np.arange(20.0)[:, None]
    error = linear_inseparability(
        T, np.arange(20.0), T_test=[[15.0], [18.0]], attribute_test=[15.5, 18.5]
    )
    assert error == 0


def test_a_test_level_that_was_never_trained_on_is_refused():
    with pytest.raises(ValueError, match=r"1 level\(s\) that attribute lacks, such as 'c'.*Train"):
        linear_inseparability(np.eye(2), ["a", "b"], T_test=np.eye(2), attribute_test=["a", "c"])


@pytest.mark.parametrize(
    ("given", "absent"), [("T_test", "attribute_test"), ("attribute_test", "T_test")]
)
def test_half_of_a_test_set_is_refused(given, absent):
    with pytest.raises(ValueError, match=f"{given} was given without {absent}"):
        linear_inseparability(np.eye(2), [0, 1], **{given: np.eye(2)})


def test_one_level_only_is_refused():
    with pytest.raises(SingleGroupError, match="single value 'a'"):
        linear_inseparability(np.eye(2), ["a", "a"])
