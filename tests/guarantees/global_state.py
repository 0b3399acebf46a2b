"""Everything of a process that a library could change behind its user's back."""

from __future__ import annotations

import decimal
import gc
import locale
import logging
import multiprocessing
import os
import random
import signal
import socket
import sys
import tempfile
import threading
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import sklearn
from threadpoolctl import threadpool_info


def _numpy() -> dict[str, Any]:
    kind, keys, *rest = np.random.get_state()  # noqa: NPY002  (the state others draw from)
    shown = np.get_printoptions()
    return {
        "errors": np.geterr(),
        "error call": np.geterrcall(),
        "print options": {name: shown[name] for name in shown if name != "override_repr"},
        "random state": (kind, keys.tobytes(), *rest),
    }


def _logging() -> dict[str, Any]:
    loggers = [logging.root, *logging.root.manager.loggerDict.values()]
    kept = {
        log.name: (log.level, list(log.handlers), log.propagate, log.disabled)
        for log in loggers
        if isinstance(log, logging.Logger)
    }
    return {"disabled below": logging.root.manager.disable, "loggers": kept}


def _signals() -> dict[str, Any]:
    return {str(number): signal.getsignal(number) for number in signal.valid_signals()}


def _matplotlib() -> dict[str, Any]:
    if "matplotlib" not in sys.modules:
        return {}
    import matplotlib as mpl

    backend = mpl.rcParams._get("backend") if hasattr(mpl.rcParams, "_get") else None
    settings = {name: repr(mpl.rcParams[name]) for name in mpl.rcParams if name != "backend"}
    open_figures = sys.modules.get("matplotlib._pylab_helpers")
    figures = list(open_figures.Gcf.figs) if open_figures is not None else []
    return {"settings": settings, "backend": repr(backend), "open figures": figures}


def _dask() -> dict[str, Any]:
    if "dask.config" not in sys.modules:
        return {}
    import dask.config

    return {"settings": repr(dask.config.config)}


def _pandas() -> dict[str, Any]:
    if "pandas" not in sys.modules:
        return {}
    import pandas as pd

    return {"settings": repr(pd.options.d)}


def _threads() -> dict[str, Any]:
    limits = {library["filepath"]: library["num_threads"] for library in threadpool_info()}
    alive = [thread.name for thread in threading.enumerate()]
    return {"limits": limits, "running": alive, "hook": threading.excepthook}


def _files() -> dict[str, Any]:
    before = os.umask(0o077)
    os.umask(before)
    # Descriptors of the process itself; those of compiled modules and of caches come and go.
    held = (
        {f"/proc/self/fd/{n}" for n in os.listdir("/proc/self/fd")}
        if os.path.exists("/proc/self/fd")
        else set()
    )
    named = {os.readlink(path) for path in held if os.path.lexists(path)}
    return {
        "working directory": os.getcwd(),
        "mask of new files": before,
        "temporary folder": tempfile.tempdir,
        "open files": {name for name in named if os.path.isfile(name)},
    }


def _interpreter() -> dict[str, Any]:
    return {
        "environment": dict(os.environ),
        "path": list(sys.path),
        "finders": list(sys.meta_path),
        "hooks": (sys.excepthook, sys.displayhook, sys.unraisablehook),
        "streams": (sys.stdin, sys.stdout, sys.stderr),
        "trace": (sys.gettrace() is None, sys.getprofile() is None),
        "recursion limit": sys.getrecursionlimit(),
        "switch interval": sys.getswitchinterval(),
        "garbage": (gc.isenabled(), gc.get_threshold()),
        "start of processes": multiprocessing.get_start_method(allow_none=True),
        "socket timeout": socket.getdefaulttimeout(),
        "decimals": repr(decimal.getcontext()),
    }


def _warnings() -> dict[str, Any]:
    return {"filters": list(warnings.filters), "shown by": warnings.showwarning}


KINDS: dict[str, Callable[[], dict[str, Any]]] = {
    "numpy": _numpy,
    "warnings": _warnings,
    "python's random state": lambda: {"": random.getstate()},
    "scikit-learn": sklearn.get_config,
    "locale": lambda: {"": locale.setlocale(locale.LC_ALL)},
    "logging": _logging,
    "signals": _signals,
    "threads": _threads,
    "files": _files,
    "interpreter": _interpreter,
    "matplotlib": _matplotlib,
    "dask": _dask,
    "pandas": _pandas,
}


def snapshot() -> dict[str, dict[str, Any]]:
    """Return what the state of the process is now."""
    return {kind: dict(look()) for kind, look in KINDS.items()}


MAY_GROW = ("logging: loggers", "threads: limits")
"""What is longer after a library is imported."""


def changed(before: dict[str, dict[str, Any]], after: dict[str, dict[str, Any]]) -> list[str]:
    """Return the names of all that is not as it was."""
    found = []
    for kind, values in before.items():
        for name, value in values.items():
            now = after[kind].get(name)
            if f"{kind}: {name}" in MAY_GROW:
                now = {key: now.get(key) for key in value}
            if value != now:
                found.append(f"{kind}: {name}")
    return found
