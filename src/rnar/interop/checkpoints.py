"""Files of parameters: the pickles of dm-clrs, and `.npz`.

A pickle may run any code when it is read, and NumPy's own arrays may be made to read any memory. So nothing of NumPy or
JAX is called here by what a file says: of an array only its type, shape and bytes are taken, and all three are checked.
"""

import io
import pickle
import pickletools
import re
from collections.abc import Mapping
from math import prod
from pathlib import Path
from typing import Any

import numpy as np

from rnar.common.files import appearing, free, read

TYPE = re.compile(r"[<>|=]?[fiub][1248]")  # of an array's numbers, in NumPy's letters


def read_parameters(path: str | Path) -> dict[str, np.ndarray]:
    """`{"<Haiku module>/<w or b>": array}` of a checkpoint or an `.npz`."""
    path = Path(path)
    content = read(path)
    try:
        if path.suffix == ".npz":
            with np.load(io.BytesIO(content), allow_pickle=False) as file:
                keys = [key for key in file.files if key.startswith("param/")] or file.files
                return {key.removeprefix("param/"): file[key] for key in keys}
        return _parameters(_unpickled(content))
    except pickle.UnpicklingError as error:
        raise ValueError(f"{path} is not a checkpoint of dm-clrs: {error}") from None
    except Exception as error:  # a damaged file can raise anything
        raise ValueError(f"{path} is not a checkpoint of dm-clrs ({type(error).__name__}: {error!s:.200})") from None


def write_parameters(path: str | Path, parameters: Mapping[str, np.ndarray], replace: bool = False) -> None:
    """Write a checkpoint that dm-clrs restores; its optimiser has no state."""
    modules: dict[str, dict[str, np.ndarray]] = {}
    for key, array in parameters.items():
        module, _, name = key.rpartition("/")
        modules.setdefault(module, {})[name] = array
    target = Path(path)
    if target.exists() and not replace:
        raise FileExistsError(f"{path} exists already; replace=True writes over it")
    with appearing(free(target, replace)) as file:
        pickle.dump({"params": modules, "opt_state": None}, file)


def _unpickled(content: bytes) -> Any:
    for opcode, argument, _ in pickletools.genops(content):
        if opcode.name.endswith("PUT") and isinstance(argument, int) and argument > len(content):
            raise pickle.UnpicklingError(f"it numbers {argument:,} objects in {len(content):,} bytes")
    return _ArraysOnly(io.BytesIO(content)).load()


def _parameters(content: Any) -> dict[str, np.ndarray]:
    found = {}
    for module, inner in _named(dict(_named(content, "it")).get("params"), "its 'params'"):
        for name, x in _named(inner, module):
            if not isinstance(x, _Array) or x.value is None:
                raise pickle.UnpicklingError(f"{module}/{name} is no array")
            found[f"{module}/{name}"] = x.value
    return found


def _named(content: Any, what: str) -> list[tuple[str, Any]]:
    if not isinstance(content, dict) or not all(isinstance(name, str) for name in content):
        raise pickle.UnpicklingError(f"{what} should be a dictionary with names as keys")
    return list(content.items())


class _Inert:
    """Stands for something that a pickle names. It cannot be changed by what else is in the file."""

    def __init__(self, *_: Any):
        pass

    def __setstate__(self, state: Any) -> None:
        pass


class _State(tuple[Any, ...], _Inert):
    """Stands for what an optimiser kept."""

    def __new__(cls, *_: Any) -> "_State":
        return super().__new__(cls)


class _Type(_Inert):
    """Stands for `numpy.dtype`."""

    def __init__(self, letters: str, *_: Any):
        self.letters, self.order = letters, "="

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        self.order = state[1]

    def checked(self) -> np.dtype[Any]:
        if not (isinstance(self.order, str) and isinstance(self.letters, str)):
            raise pickle.UnpicklingError("it holds an array whose type is no name")
        if not TYPE.fullmatch(self.order + self.letters):
            raise pickle.UnpicklingError(f"it holds an array of type {self.letters:.20}, and not of numbers")
        return np.dtype(self.order + self.letters)


class _Array(_Inert):
    """Stands for an array; `value` is one that is made anew of its bytes."""

    value: np.ndarray | None = None

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        _, shape, kind, by_columns, content = state
        self._fill(content, kind, shape, "F" if by_columns else "C")

    def _fill(self, content: Any, kind: Any, shape: Any, order: Any) -> None:
        if not isinstance(kind, _Type) or not isinstance(content, bytes | bytearray) or not isinstance(shape, tuple):
            raise pickle.UnpicklingError("it holds an array that is not made of bytes, a type and a shape")
        dtype = kind.checked()
        if not all(type(n) is int and n >= 0 for n in shape) or prod(shape) * dtype.itemsize != len(content):
            raise pickle.UnpicklingError(f"it holds an array of {len(content):,} bytes, which are not its shape's")
        self.value = np.frombuffer(bytes(content), dtype).reshape(shape, order="F" if order == "F" else "C")


class _FromBuffer(_Array):
    """Stands for the function that makes an array of a pickle of protocol 5."""

    def __init__(self, content: Any, kind: Any, shape: Any, order: Any):
        self._fill(content, kind, shape, order)


class _OfJax(_Array):
    """Stands for the function that makes an array of JAX."""

    def __init__(self, function: Any, arguments: Any, state: Any, _: Any):
        self.__setstate__(state)


KNOWN = {
    "numpy.ndarray": _Inert,
    "numpy.dtype": _Type,
    "numpy.core.multiarray._reconstruct": _Array,
    "numpy._core.multiarray._reconstruct": _Array,
    "numpy.core.numeric._frombuffer": _FromBuffer,
    "numpy._core.numeric._frombuffer": _FromBuffer,
    "jax._src.array._reconstruct_array": _OfJax,
}


class _ArraysOnly(pickle.Unpickler):
    """Knows arrays and what an optimiser keeps, and refuses everything else."""

    def find_class(self, module: str, name: str) -> type:
        if module.split(".")[0] == "optax":
            return _State
        if f"{module}.{name}" not in KNOWN:
            raise pickle.UnpicklingError(f"it holds {module}.{name}, which is not an array")
        return KNOWN[f"{module}.{name}"]
