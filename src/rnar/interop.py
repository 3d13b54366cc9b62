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
from rnar.nn.decoders import Decoder, Decoders, EdgePointer, NodePointer, OfWhole, PermutationDecoder
from rnar.nn.encoders import Encoders
from rnar.nn.processors.message_passing import MessagePassing
from rnar.nn.reasoner import Reasoner

Parameters = dict[str, np.ndarray]


def load_dm_clrs(source: str | Path | Mapping[str, np.ndarray], tasks: Sequence[str], model: str) -> Reasoner:
    """The network of a dm-clrs checkpoint, which was trained on these tasks in this order.

    `model` is `mpnn`, `pgn`, `triplet-gmpnn`, or their variants with an LSTM. Hints are not reversed: dm-clrs has none.
    """
    parameters = dict(source) if isinstance(source, Mapping) else read_parameters(source)
    size = _size(parameters)
    reasoner = replace(find(model), reversal=False).build(list(tasks), size=size)
    if not isinstance(reasoner.processor, MessagePassing):
        raise ValueError(f"{model} is not a model of dm-clrs; choose from mpnn, pgn, triplet-gmpnn, rnar, rnar-mpnn")
    left = set(parameters)
    with torch.no_grad():
        for key, parameter, value in _assignments(reasoner, parameters, list(tasks)):
            if value.shape != tuple(parameter.shape):
                raise ValueError(f"{key} has shape {value.shape}; {model} needs {tuple(parameter.shape)}")
            parameter.copy_(torch.from_numpy(np.array(value)))  # a copy: it may be read-only
            left.discard(key)
    if left:
        raise ValueError(f"{model} on {', '.join(tasks)} has no place for {len(left)} parameters, such as {min(left)}")
    return reasoner


def read_parameters(path: str | Path) -> Parameters:
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


def _size(parameters: Mapping[str, np.ndarray]) -> int:
    """H, which is how many numbers the first map to the messages gives."""
    return _value(parameters, f"{_processor(parameters)}/linear/b").shape[0]


def _processor(parameters: Mapping[str, np.ndarray]) -> str:
    """The name of the processor's module, which depends on its class."""
    found = sorted({match[1] for key in parameters if (match := re.match(r"(.*?clrs_processor)/", key))})
    if len(found) != 1:
        raise ValueError(f"these are not the parameters of a dm-clrs network: it has {len(found)} processors")
    return found[0]


def _value(parameters: Mapping[str, np.ndarray], key: str) -> np.ndarray:
    if key not in parameters:
        raise ValueError(f"the parameter {key} is missing: another model, or other tasks, or not in their order")
    return parameters[key]


Assignment = tuple[str, Tensor, np.ndarray]


def _assignments(reasoner: Reasoner, parameters: Mapping[str, np.ndarray], tasks: list[str]) -> Iterator[Assignment]:
    """(their name, our parameter, its value)"""
    yield from _of_processor(reasoner.processor, parameters)  # type: ignore[arg-type]
    for k, task in enumerate(tasks):
        heads = reasoner.heads_of(task)
        prefix = f"net/~_construct_encoders_decoders/algo_{k}_"
        for encoders in (heads.inputs, heads.hints):
            yield from _of_encoders(encoders, parameters, prefix)
        for decoders in (heads.decode_hints, heads.decode_outputs):
            yield from _of_decoders(decoders, parameters, prefix)


def _linear(module: str, linear: Any, parameters: Mapping[str, np.ndarray]) -> Iterator[Assignment]:
    """Haiku's weights are (inputs, outputs)."""
    yield f"{module}/w", linear.weight, _value(parameters, f"{module}/w").T
    yield f"{module}/b", linear.bias, _value(parameters, f"{module}/b")


def _linears(prefix: str, linears: Sequence[Any], parameters: Mapping[str, np.ndarray]) -> Iterator[Assignment]:
    """Haiku numbers modules of one name: linear, linear_1, ..."""
    for k, linear in enumerate(linears):
        yield from _linear(f"{prefix}linear" + (f"_{k}" if k else ""), linear, parameters)


def _of_processor(ours: MessagePassing, parameters: Mapping[str, np.ndarray]) -> Iterator[Assignment]:
    root = _processor(parameters)
    maps: list[nn.Linear] = [ours.to_receiver, ours.to_sender, ours.to_edge, ours.to_whole]
    maps += [ours.from_node, ours.from_messages]
    if (t := ours.triplets) is not None:
        maps += [t.from_a, t.from_b, t.from_c, t.from_ab, t.from_ac, t.from_bc, t.from_whole, t.out]
    if (g := ours.gate) is not None:
        maps += [g.from_node, g.from_messages, g.out]
    yield from _linears(f"{root}/", maps, parameters)
    for k, layer in enumerate((ours.hidden_layer, ours.last_layer)):
        yield from _linear(f"{root}/mlp/~/linear_{k}", layer, parameters)
    yield f"{root}/layer_norm/scale", ours.norm.weight, _value(parameters, f"{root}/layer_norm/scale")
    yield f"{root}/layer_norm/offset", ours.norm.bias, _value(parameters, f"{root}/layer_norm/offset")
    if isinstance(ours.aggregator, LSTM):
        yield from _of_lstm(ours.aggregator, parameters, f"{root}/agg_lstm/linear")


def _of_lstm(ours: LSTM, parameters: Mapping[str, np.ndarray], module: str) -> Iterator[Assignment]:
    """Haiku has one matrix over [input, state], the gates in another order, and adds 1 to the forget gate."""
    weight, bias = _value(parameters, f"{module}/w"), _value(parameters, f"{module}/b")
    size = ours.size
    i, g, f, o = (slice(k * size, (k + 1) * size) for k in range(4))
    weight = np.concatenate([weight[:, gate] for gate in (i, f, g, o)], axis=1)
    yield f"{module}/w", ours.from_message, weight[:size].T
    yield f"{module}/w", ours.from_state, weight[size:].T
    yield f"{module}/b", ours.bias, np.concatenate([bias[i], bias[f] + 1, bias[g], bias[o]])


def _of_encoders(ours: Encoders, parameters: Mapping[str, np.ndarray], prefix: str) -> Iterator[Assignment]:
    for name, maps in ours.maps.items():
        yield from _linears(f"{prefix}{name}_enc_", list(maps), parameters)  # type: ignore[arg-type]


def _of_decoders(ours: Decoders, parameters: Mapping[str, np.ndarray], prefix: str) -> Iterator[Assignment]:
    for name, decoder in ours.each.items():
        if isinstance(decoder, PermutationDecoder):
            yield from _linears(f"{prefix}{name}_mask_dec_", [decoder.of_nodes[-1]], parameters)
            decoder = decoder.pointer
        yield from _linears(f"{prefix}{name}_dec_", _maps_of(decoder), parameters)  # type: ignore[arg-type]


def _maps_of(decoder: Decoder) -> list[Any]:
    """A decoder's maps in the reference's order."""
    nodes, edges = list(decoder.of_nodes), list(decoder.of_edges)
    if isinstance(decoder, NodePointer):
        return [*nodes, *edges, decoder.last]
    if isinstance(decoder, EdgePointer):
        return [*nodes[:2], *edges, nodes[2], decoder.last]
    if isinstance(decoder, OfWhole):
        return [decoder.from_nodes, decoder.from_whole]
    return [*nodes, *edges]
