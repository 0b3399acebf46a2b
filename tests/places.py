"""Array libraries and devices, each where it is installed and there."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from optional_libraries import array_api_strict


@dataclass(frozen=True)
class Place:
    """An array library and a device.

    `put` takes a NumPy array there, `holds` tells whether an array is there.
    """

    name: str
    put: Callable[[Any], Any]
    holds: Callable[[Any], bool]


def strict(device: str) -> Place:
    if device != "CPU_DEVICE" and np.lib.NumpyVersion(np.__version__) < "2.0.0":
        pytest.skip("array-api-strict sends arrays to its second device with NumPy 2 only")
    there = array_api_strict.Device(device)
    kind = type(array_api_strict.asarray(0.0))
    return Place(
        f"array-api-strict on {device}",
        lambda a: array_api_strict.asarray(np.array(a), device=there),
        lambda a: isinstance(a, kind) and a.device == there,
    )


def torch_on(device: str) -> Place:
    torch = pytest.importorskip("torch")
    if device != "cpu" and not torch.cuda.is_available():
        pytest.skip("no GPU that torch can use")
    return Place(
        f"torch on {device}",
        lambda a: torch.asarray(np.array(a), device=device),
        lambda a: isinstance(a, torch.Tensor) and a.device.type == device,
    )


def cupy_arrays() -> Place:
    cupy = pytest.importorskip("cupy")
    if cupy.cuda.runtime.getDeviceCount() == 0:
        pytest.skip("no GPU that CuPy can use")
    return Place("cupy", cupy.asarray, lambda a: isinstance(a, cupy.ndarray))


PLACES: dict[str, Callable[[], Place]] = {
    "strict": lambda: strict("CPU_DEVICE"),
    "strict-device1": lambda: strict("device1"),
    "torch": lambda: torch_on("cpu"),
    "torch-cuda": lambda: torch_on("cuda"),
    "cupy": cupy_arrays,
}


def there(name: str) -> bool:
    """Tell whether a place can be used here; test_places.py says why not."""
    try:
        PLACES[name]()
    except pytest.skip.Exception:
        return False
    return True


@pytest.fixture(params=filter(there, PLACES))
def place(request) -> Place:
    """Each library and device that is here; those of array-api-strict always are.

    Its second device is memory that NumPy cannot read.
    """
    return PLACES[request.param]()


@pytest.fixture(params=["torch", *filter(there, ["torch-cuda"])])
def device(request) -> str:
    """Each device that rows can be sent to."""
    PLACES[request.param]()
    return "cpu" if request.param == "torch" else "cuda"
