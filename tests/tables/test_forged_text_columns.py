"""What a file says of a column of texts is believed only if it fits together."""

import numpy as np
import pytest

pytest.importorskip("skrub")
from fairpca.tables._text_column import TextColumn

PLAIN = {"kind": "text", "name": "job", "vocabulary": ["a", "b", "c"], "indicator": False}


@pytest.mark.parametrize("shape", [(3,), (2, 2), (3, 2, 1)])
def test_components_of_another_shape_are_refused(shape):
    arrays = {"idf": np.ones(3), "components": np.ones(shape)}
    with pytest.raises(ValueError, match="do not fit each other"):
        TextColumn.from_plain(PLAIN, arrays)


def test_components_that_fit_are_taken():
    column = TextColumn.from_plain(PLAIN, {"idf": np.ones(3), "components": np.ones((3, 2))})
    assert column.components.shape == (3, 2)
