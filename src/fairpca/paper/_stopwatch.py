"""Time fits in a process of their own, which is killed when a fit takes too long."""

from __future__ import annotations

import multiprocessing
import warnings
from dataclasses import dataclass
from multiprocessing.connection import Connection
from time import perf_counter
from typing import Any

from ..datasets import make_two_gaussians
from ..errors import InfeasibleError
from ._figure_methods import make_shown

READY, STARTED, DONE, CANNOT, FAILED = "ready", "started", "done", "cannot", "failed"
PREPARATION = 300.0
"""Seconds for the imports of a method and a first small fit, which do not count."""


@dataclass(frozen=True)
class Times:
    """How long fits took.

    Parameters
    ----------
    seconds : tuple of float
        One number per fit that ended.
    stopped : bool
        Whether a fit was stopped at the limit.
    """

    seconds: tuple[float, ...]
    stopped: bool = False


@dataclass(frozen=True)
class Race:
    """What is to be timed.

    Parameters
    ----------
    method : str
        A name in the figures.
    d, k : int
        Numbers of features and of components.
    n_per_group : int
        Rows of each group of the two Gaussians that are fitted.
    repeats : int
        Most fits, each to data of its own.
    """

    method: str
    d: int
    k: int
    n_per_group: int = 168
    repeats: int = 10


def time_fits(race: Race, *, limit: float, budget: float) -> Times:
    """Fit until there are enough times or the budget is spent; stop a fit at the limit.

    Parameters
    ----------
    race : Race
        What to fit.
    limit : float
        Seconds after which one fit is stopped for good.
    budget : float
        Seconds after which no further fit is begun.

    Returns
    -------
    Times
        Empty where the method has no answer (`InfeasibleError`).

    Raises
    ------
    RuntimeError
        If the method raised, or its process died.
    """
    context = _fresh_processes()
    receive, send = context.Pipe(duplex=False)
    process = context.Process(target=_fits, args=(race, send), daemon=True)
    process.start()
    send.close()  # ours; when the other end closes, too, waiting ends
    try:
        return _collected(receive, limit, budget)
    except EOFError as error:
        raise RuntimeError(f"The process that fitted {race} died without an answer.") from error
    finally:
        process.kill()
        process.join()
        receive.close()


def _collected(receive: Connection, limit: float, budget: float) -> Times:
    seconds: list[float] = []
    patience = PREPARATION
    while receive.poll(patience):
        what, value = receive.recv()
        if what == FAILED:
            raise RuntimeError(value)
        if what == CANNOT:
            return Times(())
        if what == DONE:
            seconds.append(value)
            if sum(seconds) >= budget:
                return Times(tuple(seconds))
        if what == READY and seconds:
            return Times(tuple(seconds))
        patience = limit if what == STARTED else PREPARATION
    return Times(tuple(seconds), stopped=True)


def _fits(race: Race, send: Connection) -> None:
    """Fit once to a little data, then time fits; tell the parent about every step."""
    warnings.simplefilter("ignore")  # about representations, which nobody looks at here
    try:
        X, z = make_two_gaussians(8, n_per_group=30, random_state=0)
        make_shown(race.method, 8, 2).fit(X, sensitive_features=z)
        for draw in range(race.repeats):
            X, z = make_two_gaussians(race.d, n_per_group=race.n_per_group, random_state=draw)
            method = make_shown(race.method, race.d, race.k)
            send.send((STARTED, draw))
            start = perf_counter()
            method.fit(X, sensitive_features=z)
            send.send((DONE, perf_counter() - start))
        send.send((READY, race.repeats))
    except BrokenPipeError:
        return  # the parent has gone
    except InfeasibleError as error:
        send.send((CANNOT, str(error)))
    except Exception as error:
        send.send((FAILED, f"{type(error).__name__}: {error}"))


def _fresh_processes() -> Any:
    """Return the kind of process that has no threads of the parent, and starts fast if it can."""
    if "forkserver" not in multiprocessing.get_all_start_methods():
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([__name__])
    return context
