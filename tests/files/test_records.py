"""Values as plain text and arrays, and back."""

import numpy as np
import pytest

from fairpca._files.records import Packer, is_number, unplain
from fairpca.errors import ModelFileError
from optional_libraries import array_api_strict
from registry import fitted


def test_arrays_of_other_libraries_are_saved_as_numpy():
    packer = Packer()
    plain = packer.plain(array_api_strict.asarray([1.0, 2.0]), "value")
    np.testing.assert_array_equal(unplain(plain, packer.tensors), [1.0, 2.0], strict=True)


def test_a_value_in_a_file_has_all_its_fields():
    packer = Packer()
    plain = packer.plain(fitted("equal opportunity").moments_, "moments_")
    assert unplain(plain, packer.tensors).everyone.weight == 120
    del plain["fields"]["everyone"]
    with pytest.raises(ModelFileError, match="do not fit together"):
        unplain(plain, packer.tensors)


def test_a_file_that_knows_less_than_this_version_is_read():
    packer = Packer()
    plain = packer.plain(fitted("equal opportunity").moments_, "moments_")
    for later in ("resolution", "provisional"):
        del plain["fields"][later]
    moments = unplain(plain, packer.tensors)
    assert (moments.resolution, moments.provisional) == (0.0, False)


@pytest.mark.parametrize("value", [10**400, float("nan"), float("inf"), True, "1", None])
def test_what_is_no_finite_number_is_none(value):
    assert not is_number(value)
