"""Which array libraries and devices were tested here; a skip says which were not, and why."""

import numpy as np
import pytest

from places import PLACES


@pytest.mark.parametrize("name", PLACES)
def test_arrays_go_to_a_place_and_stay_there(name):
    place = PLACES[name]()
    assert place.holds(place.put(np.ones(3)))
    assert not place.holds(np.ones(3))
