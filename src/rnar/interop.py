"""Weights of dm-clrs -> Reasoner.

    reasoner = load_dm_clrs("best.pkl", tasks=["bfs"], model="triplet-gmpnn")

A checkpoint of dm-clrs is a pickle, which may run any code when it is read. This one is read by an unpickler that makes
arrays, and nothing else; the optimiser's state is passed over. An `.npz` of the parameters does as well, with keys
`<Haiku module>/<w or b>`.
"""

from __future__ import annotations

import pickle
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from rnar.models import find
from rnar.nn.aggregators import LSTM
from rnar.nn.decoders import EdgePointer, NodePointer, OfWhole, PermutationDecoder
from rnar.nn.processors.message_passing import MessagePassing
from rnar.nn.reasoner import Reasoner


def load_dm_clrs(source: str | Path | Mapping[str, np.ndarray], tasks: Sequence[str], model: str) -> Reasoner:
    """The network of a dm-clrs checkpoint, which was trained on these tasks in this order.

    `model` is `mpnn`, `pgn`, `triplet-gmpnn`, or their variants with an LSTM. Hints are not reversed: dm-clrs has none.
    """
    given = Given(source if isinstance(source, Mapping) else read_parameters(source))
    root = _processor(given)
    size = len(given[f"{root}/linear/b"])  # H: as many numbers does the first map to the messages give
    reasoner = replace(find(model), reversal="none").build(list(tasks), size=size)
    if not isinstance(reasoner.processor, MessagePassing):
        raise ValueError(f"{model} is not a model of dm-clrs; choose from mpnn, pgn, triplet-gmpnn, rnar, rnar-mpnn")
    left = set(given)
    with torch.no_grad():
        for key, parameter, value in _assignments(reasoner, reasoner.processor, root, given, tasks):
            if value.shape != tuple(parameter.shape):
                raise ValueError(f"{key} has shape {value.shape}; {model} needs {tuple(parameter.shape)}")
            parameter.copy_(torch.from_numpy(np.array(value)))  # a copy: it may be read-only
            left.discard(key)
    if left:
        raise ValueError(f"{model} on {', '.join(tasks)} has no place for {len(left)} parameters, such as {min(left)}")
    return reasoner


class Given(dict[str, np.ndarray]):
    """The parameters of a network by their names in dm-clrs, `<Haiku module>/<w or b>`."""

    def __missing__(self, key: str) -> np.ndarray:
        raise ValueError(f"the parameter {key} is missing: another model, or other tasks, or not in their order")


def read_parameters(path: str | Path) -> dict[str, np.ndarray]:
    """`{"<Haiku module>/<w or b>": array}` of a checkpoint or an `.npz`."""
    path = Path(path)
    if path.suffix == ".npz":
        with np.load(path, allow_pickle=False) as file:
            keys = [key for key in file.files if key.startswith("param/")] or file.files
            return {key.removeprefix("param/"): file[key] for key in keys}
    with path.open("rb") as file:
        try:
            content = _ArraysOnly(file).load()
            modules = content["params"]
            return {f"{module}/{name}": np.asarray(x) for module, inner in modules.items() for name, x in inner.items()}
        except pickle.UnpicklingError as error:
            raise ValueError(f"{path} is not a checkpoint of dm-clrs: {error}") from None
        except Exception as error:  # a damaged pickle can raise anything
            raise ValueError(f"{path} is not a checkpoint of dm-clrs ({type(error).__name__}: {error})") from None


class _ArraysOnly(pickle.Unpickler):
    """Makes NumPy arrays; refuses everything else."""

    def find_class(self, module: str, name: str) -> Any:
        allowed: dict[tuple[str, str], Any] = {
            ("numpy", "ndarray"): np.ndarray,
            ("numpy", "dtype"): np.dtype,
            ("numpy.core.multiarray", "_reconstruct"): _empty_array,
            ("numpy._core.multiarray", "_reconstruct"): _empty_array,
            ("jax._src.array", "_reconstruct_array"): _array_of_jax,
        }
        if (module, name) in allowed:
            return allowed[module, name]
        if module.split(".")[0] == "optax":  # the optimiser's state
            return _Ignored
        raise pickle.UnpicklingError(f"it holds {module}.{name}, which is not an array")


class _Ignored(tuple[Any, ...]):
    """Stands for whatever the optimiser kept."""

    def __new__(cls, *_: Any) -> _Ignored:
        return super().__new__(cls)


def _empty_array(kind: type, shape: tuple[int, ...], dtype: Any) -> np.ndarray:
    if kind is not np.ndarray:
        raise pickle.UnpicklingError(f"it holds an array of type {kind}")
    return np.ndarray(shape, dtype)


def _array_of_jax(function: Any, arguments: Any, state: Any, _: Any) -> np.ndarray:
    array = function(*arguments)
    array.__setstate__(state)
    return array


def _processor(given: Given) -> str:
    """The name of the processor's module, which depends on its class."""
    found = sorted({match[1] for key in given if (match := re.match(r"(.*?clrs_processor)/", key))})
    if len(found) != 1:
        raise ValueError(f"these are not the parameters of a dm-clrs network: it has {len(found)} processors")
    return found[0]


def _assignments(
    reasoner: Reasoner, processor: MessagePassing, root: str, given: Given, tasks: Sequence[str]
) -> Iterator[tuple[str, Tensor, np.ndarray]]:
    """(their name, our parameter, its value)"""
    for module, linear in (*_maps_of_processor(processor, root), *_maps_of_heads(reasoner, tasks)):
        yield f"{module}/w", linear.weight, given[f"{module}/w"].T  # Haiku's weights are (inputs, outputs)
        yield f"{module}/b", linear.bias, given[f"{module}/b"]
    norm = f"{root}/layer_norm"
    yield f"{norm}/scale", processor.norm.weight, given[f"{norm}/scale"]
    yield f"{norm}/offset", processor.norm.bias, given[f"{norm}/offset"]
    if isinstance(processor.aggregator, LSTM):
        yield from _of_lstm(processor.aggregator, given, f"{root}/agg_lstm/linear")


def _of_lstm(ours: LSTM, given: Given, module: str) -> Iterator[tuple[str, Tensor, np.ndarray]]:
    """Haiku has one matrix over [input, state], the gates in another order, and adds 1 to the forget gate."""
    weight, bias = given[f"{module}/w"], given[f"{module}/b"]
    size = ours.size
    i, g, f, o = (slice(k * size, (k + 1) * size) for k in range(4))
    weight = np.concatenate([weight[:, gate] for gate in (i, f, g, o)], axis=1)
    yield f"{module}/w", ours.from_message, weight[:size].T
    yield f"{module}/w", ours.from_state, weight[size:].T
    yield f"{module}/b", ours.bias, np.concatenate([bias[i], bias[f] + 1, bias[g], bias[o]])


def _numbered(prefix: str, linears: Sequence[Any]) -> Iterator[tuple[str, Any]]:
    """Haiku numbers modules of one name: linear, linear_1, ..."""
    for k, linear in enumerate(linears):
        yield f"{prefix}linear" + (f"_{k}" if k else ""), linear


def _maps_of_processor(ours: MessagePassing, root: str) -> Iterator[tuple[str, Any]]:
    """(their module, our linear map), as those that follow"""
    maps: list[nn.Linear] = [ours.to_receiver, ours.to_sender, ours.to_edge, ours.to_whole]
    maps += [ours.from_node, ours.from_messages]
    if (t := ours.triplets) is not None:
        maps += [t.from_a, t.from_b, t.from_c, t.from_ab, t.from_ac, t.from_bc, t.from_whole, t.out]
    if (g := ours.gate) is not None:
        maps += [g.from_node, g.from_messages, g.out]
    yield from _numbered(f"{root}/", maps)
    yield f"{root}/mlp/~/linear_0", ours.hidden_layer
    yield f"{root}/mlp/~/linear_1", ours.last_layer


def _maps_of_heads(reasoner: Reasoner, tasks: Sequence[str]) -> Iterator[tuple[str, Any]]:
    for k, task in enumerate(tasks):
        heads, prefix = reasoner.heads_of(task), f"net/~_construct_encoders_decoders/algo_{k}_"
        for name, maps in (*heads.inputs.maps.items(), *heads.hints.maps.items()):
            yield from _numbered(f"{prefix}{name}_enc_", list(maps.children()))
        for name, decoder in (*heads.decode_hints.each.items(), *heads.decode_outputs.each.items()):
            if isinstance(decoder, PermutationDecoder):
                yield from _numbered(f"{prefix}{name}_mask_dec_", [decoder.of_nodes[-1]])
                decoder = decoder.pointer
            yield from _numbered(f"{prefix}{name}_dec_", _maps_of(decoder))


def _maps_of(decoder: Any) -> list[Any]:
    """A decoder's maps in the reference's order."""
    nodes, edges = list(decoder.of_nodes), list(decoder.of_edges)
    if isinstance(decoder, NodePointer):
        return [*nodes, *edges, decoder.last]
    if isinstance(decoder, EdgePointer):
        return [*nodes[:2], *edges, nodes[2], decoder.last]
    if isinstance(decoder, OfWhole):
        return [decoder.from_nodes, decoder.from_whole]
    return [*nodes, *edges]
