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
    return {
        f"{module}/{name}": _array(x, f"{module}/{name}")
        for module, inner in _named(dict(_named(content, "it")).get("params"), "its 'params'")
        for name, x in _named(inner, module)
    }


def _named(content: Any, what: str) -> list[tuple[str, Any]]:
    if not isinstance(content, dict) or not all(isinstance(name, str) for name in content):
        raise pickle.UnpicklingError(f"{what} should be a dictionary with names as keys")
    return list(content.items())


KNOWN = (
    "numpy.ndarray",
    "numpy.dtype",
    "numpy.core.multiarray._reconstruct",
    "numpy._core.multiarray._reconstruct",
    "numpy.core.numeric._frombuffer",
    "numpy._core.numeric._frombuffer",
    "jax._src.array._reconstruct_array",
)


class _Noted:
    """Stands for what a pickle names, notes what the pickle would give it, and does nothing with it."""

    arguments: tuple[Any, ...] = ()
    state: Any = None

    def __init__(self, *arguments: Any):
        self.arguments = arguments

    def __setstate__(self, state: Any) -> None:
        self.state = state


class _ArraysOnly(pickle.Unpickler):
    """Knows arrays and what an optimiser keeps, and refuses everything else."""

    def find_class(self, module: str, name: str) -> type:
        if module.split(".")[0] != "optax" and f"{module}.{name}" not in KNOWN:
            raise pickle.UnpicklingError(f"it holds {module}.{name}, which is not an array")
        return type(name, (_Noted,), {})


def _array(noted: Any, name: str) -> np.ndarray:
    """Makes an array anew of its bytes, type and shape, by the ways in which NumPy and JAX write them."""
    match type(noted).__name__, noted:
        case "_reconstruct", _Noted(state=(_, shape, kind, by_columns, content)):
            order = "F" if by_columns else "C"
        case "_frombuffer", _Noted(arguments=(content, kind, shape, order)):
            pass
        case "_reconstruct_array", _Noted(arguments=(_, _, (_, shape, kind, by_columns, content), _)):
            order = "F" if by_columns else "C"
        case _:
            raise pickle.UnpicklingError(f"{name} is no array")
    match type(kind).__name__, kind, shape, content:
        case "dtype", _Noted(arguments=(str(letters), *_), state=(_, str(endian), *_)), tuple(), bytes() | bytearray():
            pass
        case _:
            raise pickle.UnpicklingError("it holds an array that is not made of bytes, a type and a shape")
    if not TYPE.fullmatch(endian + letters):
        raise pickle.UnpicklingError(f"it holds an array of type {letters:.20}, and not of numbers")
    dtype = np.dtype(endian + letters)
    if not all(type(n) is int and n >= 0 for n in shape) or prod(shape) * dtype.itemsize != len(content):
        raise pickle.UnpicklingError(f"it holds an array of {len(content):,} bytes, which are not its shape's")
    return np.frombuffer(bytes(content), dtype).reshape(shape, order="F" if order == "F" else "C")
