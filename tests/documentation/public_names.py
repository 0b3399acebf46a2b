"""What is public: the names that these packages export, and what their classes add."""

import importlib
import inspect
from dataclasses import dataclass
from functools import cached_property
from typing import Any

PACKAGES = (
    "fairpca",
    "fairpca.auditing",
    "fairpca.datasets",
    "fairpca.errors",
    "fairpca.metrics",
    "fairpca.erasers",
    "fairpca.io",
    "fairpca.models",
    "fairpca.moments",
    "fairpca.tables",
    "fairpca.torch",
    "fairpca.tradeoff",
)
"""`fairpca` first: what it exports is documented under its name."""

EXPORTED_BY_FAIRPCA = {"estimators", "solvers"}
"""Everything public in these, if anything is, has a name in `fairpca` itself."""


@dataclass(frozen=True)
class PublicName:
    """A name, and the object it stands for."""

    path: str
    thing: Any

    @property
    def package(self):
        return self.path.rpartition(".")[0]

    @property
    def name(self):
        return self.path.rpartition(".")[2]

    @property
    def is_documented_by_itself(self):
        """Whether it has a docstring of its own; constants and aliases have none."""
        return inspect.isclass(self.thing) or inspect.isroutine(self.thing)


def public_names():
    """Return every public object once, under the shortest of its names."""
    found, seen = [], set()
    for package in PACKAGES:
        module = importlib.import_module(package)
        for name in module.__all__:
            thing = getattr(module, name)
            if id(thing) not in seen and not inspect.ismodule(thing):
                seen.add(id(thing))
                found.append(PublicName(f"{package}.{name}", thing))
    return found


def public_members(public):
    """Return the methods and properties that a class adds to those of other libraries."""
    if not inspect.isclass(public.thing):
        return []
    return [
        PublicName(f"{public.path}.{name}", getattr(public.thing, name))
        for name in _ours(public.thing)
        if not name.startswith("_") and not name.endswith("_request")  # those are scikit-learn's
    ]


def _ours(cls):
    names = {}
    for base in reversed(cls.__mro__):
        for name, member in vars(base).items():
            names[name] = base.__module__.startswith("fairpca") and _can_have_docstring(member)
    return [name for name, ours in names.items() if ours and not _is_for_estimators(cls, name)]


def _is_for_estimators(cls, name):
    """Whether a method is what estimators ask of rows that are elsewhere, and not for users."""
    return any(hasattr(b, name) for b in cls.__mro__ if b.__name__ == "LazyRows")


def _can_have_docstring(member):
    behind = (property, cached_property, classmethod, staticmethod)
    # scikit-learn's available_if is a descriptor with the method's name and docstring.
    return (
        inspect.isfunction(member)
        or isinstance(member, behind)
        or type(member).__name__ == "_AvailableIfDescriptor"
    )
