"""What training of a fair classifier accepts: labels of two classes, and groups."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import assert_all_finite
from sklearn.utils.multiclass import type_of_target

from .._attributes import Levels, read_attributes
from ..errors import MissingGroupError, MissingTargetError, SingleGroupError, UsageError
from ..estimators import check_lengths, check_target


def read_labels(y: Any, n: int, criterion: str) -> np.ndarray:
    """Return one label per row."""
    if y is None:
        raise MissingTargetError(
            "Reductions trains a classifier, so fit requires y to be passed, but the target y is "
            "None. Pass fit(X, y, sensitive_features=...)."
        )
    labels = check_target(y, n, criterion)
    if labels.dtype.kind == "f":
        assert_all_finite(labels, input_name="y")
    return labels


def two_classes(labels: np.ndarray, pos_label: Any) -> np.ndarray:
    """Return the two labels, the positive one last."""
    found = list(dict.fromkeys(labels.tolist()))
    if len(found) != 2 or pos_label not in found:
        raise UsageError(
            f"Only binary classification is supported. The type of the target is "
            f"{type_of_target(labels)}: y has {len(found)} distinct value(s), the first are "
            f"{found[:3]}, and one of two should be pos_label={pos_label!r}. Merge classes, or set "
            f"pos_label."
        )
    return np.asarray([next(v for v in found if v != pos_label), pos_label], dtype=labels.dtype)


def joint_groups(sensitive_features: Any, n: int) -> np.ndarray:
    """Return the codes of the joint groups."""
    if sensitive_features is None:
        raise MissingGroupError(
            "No sensitive features were given, and without them there is nothing to be fair "
            "between. Pass fit(X, y, sensitive_features=...)."
        )
    attributes = read_attributes(sensitive_features, intersectional=True)
    check_lengths(n, attributes)
    numeric = [a.name for a in attributes if not isinstance(a, Levels)]
    if numeric:
        raise UsageError(
            f"The sensitive attribute {numeric[0]!r} is numeric, but rates are compared between "
            f"groups. Cut it into bands, or use FairPCA, which takes numbers."
        )
    (joint,) = (a for a in attributes if isinstance(a, Levels))
    if len(np.unique(joint.codes)) < 2:
        raise SingleGroupError(
            f"The sensitive attribute {joint.name!r} takes one value only, so there is nothing to "
            f"compare. Pass rows of at least two groups."
        )
    return joint.codes
