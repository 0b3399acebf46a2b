"""What can go wrong with work that is continued."""

from ..errors import FairPCAError


class CheckpointError(FairPCAError, ValueError):
    """A checkpoint is damaged, or belongs to other files or to another question.

    Examples
    --------
    >>> from fairpca import CheckpointError
    >>> raise CheckpointError("'fit.checkpoint' is truncated.")
    Traceback (most recent call last):
    fairpca.out_of_core.errors.CheckpointError: 'fit.checkpoint' is truncated.
    """
