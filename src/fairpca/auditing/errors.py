"""What an audit cannot work with."""

from __future__ import annotations

from ..errors import FairPCAError


class AuditError(FairPCAError, ValueError):
    """The question cannot be asked of this table; the message says what to change.

    Examples
    --------
    >>> import pandas as pd
    >>> from fairpca import audit
    >>> from fairpca.auditing import AuditError
    >>> people = pd.DataFrame({"sex": ["f", "m"] * 10, "age": range(20)})
    >>> try:
    ...     audit(people, sensitive=["sex"])
    ... except AuditError as refusal:
    ...     print(refusal)
    The table has 20 rows, but at least 100 are needed: they are divided into halves,
    and a half of fewer shows nothing but noise.
    """


class UnknownColumnError(AuditError):
    """A column was named that the table does not have.

    Examples
    --------
    >>> import pandas as pd
    >>> from fairpca import audit
    >>> from fairpca.auditing import UnknownColumnError
    >>> people = pd.DataFrame({"sex": ["f", "m"] * 100, "age": range(200)})
    >>> try:
    ...     audit(people, sensitive=["Sex"])
    ... except UnknownColumnError as refusal:
    ...     print(refusal)
    There is no column 'Sex'. Did you mean 'sex'?
    """


class TargetError(AuditError):
    """The target is not a yes or no that can be predicted.

    Examples
    --------
    >>> import pandas as pd
    >>> from fairpca import audit
    >>> from fairpca.auditing import TargetError
    >>> people = pd.DataFrame({"sex": ["f", "m"] * 100, "age": range(200), "hired": ["no"] * 200})
    >>> try:
    ...     audit(people, sensitive=["sex"], target="hired")
    ... except TargetError as refusal:
    ...     print(refusal)
    The target 'hired' has the value 'no' only, and nothing can be learned about it.
    Name another target, or none.
    """
