"""What can go wrong with models on disk."""

from ..errors import FairPCAError


class ModelFileError(FairPCAError, ValueError):
    """A file is not a model that can be loaded: damaged, altered, too large, or of the future."""


class UnsavableModelError(FairPCAError, TypeError):
    """A model holds something that cannot be written to a file without code, such as a function."""


class ExportError(FairPCAError, ValueError):
    """A model, or a part of it, has no counterpart in the format it was to be exported to."""
