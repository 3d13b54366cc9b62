"""Networks from and to dm-clrs: the same weights, and so the same logits.

reasoner = load_dm_clrs("best.pkl", tasks=["bfs"], model="triplet-gmpnn")
save_dm_clrs(reasoner, "ours.pkl")
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from rnar.clrs import find as find_task
from rnar.interop.checkpoints import read_parameters, write_parameters
from rnar.models import find
from rnar.nn.aggregators import LSTM, Max
from rnar.nn.decoders import EdgePointerDecoder, GraphDecoder, NodePointerDecoder, PermutationDecoder
from rnar.nn.processors.message_passing import MessagePassing
from rnar.nn.reasoner import Reasoner

ROOT = "net/mpnn_aggr_clrs_processor"
"""what dm-clrs calls the processors that it has in common with us"""
MODELS = "mpnn, pgn, triplet-gmpnn, rnar, rnar-mpnn"
"""those that can be in a checkpoint"""

Places = Iterator[tuple[str, Tensor]]
"""(their name, our parameter in their layout: a view, so that what is copied into it is in the network)"""


def load_dm_clrs(source: str | Path | Mapping[str, np.ndarray], tasks: Sequence[str], model: str) -> Reasoner:
    """Returns the network of a dm-clrs checkpoint.

    A checkpoint is a pickle; it is read without running what it may hold, and the optimiser's state is passed over. An
    `.npz` of the parameters does as well, with keys `<Haiku module>/<w or b>`.

    Args:
        source: A checkpoint, an `.npz`, or the parameters.
        tasks: What the network was trained on, in this order.
        model: `mpnn`, `pgn`, `triplet-gmpnn`, or their variants with an LSTM. Hints are not reversed: dm-clrs has none.
    """
    given = dict(source if isinstance(source, Mapping) else read_parameters(source))
    root = _processor(given)
    size = len(_given(given, f"{root}/linear/b"))  # H: as many numbers does the first map to the messages give
    reasoner = replace(find(model), reversal="none").build(list(tasks), size=size)
    if not isinstance(reasoner.processor, MessagePassing):
        raise ValueError(f"{model} is not a model of dm-clrs; choose from {MODELS}")
    left = set(given)
    with torch.no_grad():
        for key, ours in _places(reasoner, reasoner.processor, root):
            theirs = _given(given, key)
            if theirs.shape != tuple(ours.shape):
                raise ValueError(f"{key} has shape {theirs.shape}; {model} needs {tuple(ours.shape)}")
            ours.copy_(torch.from_numpy(np.array(theirs)))  # a copy: it may be read-only
            left.discard(key)
        if isinstance(reasoner.processor.aggregator, LSTM):
            left -= _load_lstm(reasoner.processor.aggregator, given, f"{root}/agg_lstm/linear", model)
    if left:
        raise ValueError(f"{model} on {', '.join(tasks)} has no place for {len(left)} parameters, such as {min(left)}")
    return reasoner


def save_dm_clrs(reasoner: Reasoner, path: str | Path, replace: bool = False) -> None:
    """Write a network as a checkpoint that `restore_model` of dm-clrs reads, for a model of the same tasks.

    The optimiser's state is not in it: to go on training there, set `model.opt_state = model.opt.init(model.params)`.
    An aggregator with an LSTM has the name `agg_lstm`, as `load_dm_clrs` expects it; dm-clrs itself has none.

    Args:
        reasoner: A network that dm-clrs could have: without hint reversal, with a maximum or an LSTM.
        path: Where to write it.
        replace: Write over a file that is there.
    """
    processor = reasoner.processor
    if type(processor) is not MessagePassing or type(processor.aggregator) not in (Max, LSTM):
        raise ValueError(f"dm-clrs has no such network; it has those of {MODELS}, without hint reversal")
    for task in reasoner.tasks:
        ours, theirs = reasoner.heads_of(task).spec, find_task(task).spec
        if ours != theirs:
            other = {name for mine, its in zip(ours, theirs, strict=True) for name in mine.keys() ^ its.keys()}
            raise ValueError(f"dm-clrs sees other features of {task}: {', '.join(sorted(other)) or 'of other kinds'}")
    saved = {key: tensor.detach().float().cpu().numpy().copy() for key, tensor in _places(reasoner, processor, ROOT)}
    if isinstance(processor.aggregator, LSTM):
        saved |= _saved_lstm(processor.aggregator, f"{ROOT}/agg_lstm/linear")
    if sum(x.size for x in saved.values()) != sum(x.numel() for x in reasoner.parameters()):
        raise ValueError(f"this network has parameters that dm-clrs has no place for; it has those of {MODELS}")
    write_parameters(path, saved, replace)


def _given(given: Mapping[str, np.ndarray], key: str) -> np.ndarray:
    if key not in given:
        raise ValueError(f"the parameter {key} is missing: another model, or other tasks, or not in their order")
    return given[key]


def _processor(given: Mapping[str, np.ndarray]) -> str:
    """The name of the processor's module, which depends on its class."""
    names = sorted({match[1] for key in given if (match := re.match(r"(.*?clrs_processor)/", key))})
    if len(names) != 1:
        raise ValueError(f"these are not the parameters of a dm-clrs network: it has {len(names)} processors")
    return names[0]


def _places(reasoner: Reasoner, processor: MessagePassing, root: str) -> Places:
    """All parameters but those of an LSTM."""
    for module, linear in (*_maps_of_processor(processor, root), *_maps_of_heads(reasoner)):
        yield f"{module}/w", linear.weight.T  # Haiku's weights are (inputs, outputs)
        yield f"{module}/b", linear.bias
    yield f"{root}/layer_norm/scale", processor.norm.weight
    yield f"{root}/layer_norm/offset", processor.norm.bias


def _load_lstm(ours: LSTM, given: Mapping[str, np.ndarray], module: str, model: str) -> set[str]:
    """Haiku has one matrix over [input, state], the gates in another order, and adds 1 to the forget gate."""
    expected = _saved_lstm(ours, module)
    for key, x in expected.items():
        if _given(given, key).shape != x.shape:
            raise ValueError(f"{key} has shape {given[key].shape}; {model} needs {x.shape}")
    weight, bias = (_swapped(torch.from_numpy(np.array(given[key]))) for key in expected)
    ours.from_message.copy_(weight[: ours.size].T)
    ours.from_state.copy_(weight[ours.size :].T)
    ours.bias.copy_(bias)
    ours.bias[ours.size : 2 * ours.size] += 1
    return set(expected)


def _saved_lstm(ours: LSTM, module: str) -> dict[str, np.ndarray]:
    with torch.no_grad():
        weight, bias = torch.cat([ours.from_message.T, ours.from_state.T]), ours.bias.clone()
        bias[ours.size : 2 * ours.size] -= 1
    pairs = {f"{module}/w": weight, f"{module}/b": bias}
    return {key: _swapped(x).float().cpu().numpy() for key, x in pairs.items()}


def _swapped(x: Tensor) -> Tensor:
    """Our gates, input, forget, candidate, output, in Haiku's order: input, candidate, forget, output; and back."""
    first, second, third, last = x.chunk(4, dim=-1)
    return torch.cat([first, third, second, last], dim=-1)


def _numbered(prefix: str, linears: Sequence[Any]) -> Iterator[tuple[str, Any]]:
    """Haiku numbers modules of one name: linear, linear_1, ..."""
    for k, linear in enumerate(linears):
        yield f"{prefix}linear" + (f"_{k}" if k else ""), linear


def _maps_of_processor(ours: MessagePassing, root: str) -> Iterator[tuple[str, Any]]:
    """(their module, our linear map), as those that follow"""
    maps: list[nn.Linear] = [ours.to_receiver, ours.to_sender, ours.to_edge, ours.to_graph]
    maps += [ours.from_node, ours.from_messages]
    if (t := ours.triplets) is not None:
        maps += [t.from_a, t.from_b, t.from_c, t.from_ab, t.from_ac, t.from_bc, t.from_graph, t.out]
    if (g := ours.gate) is not None:
        maps += [g.from_node, g.from_messages, g.out]
    yield from _numbered(f"{root}/", maps)
    yield f"{root}/mlp/~/linear_0", ours.hidden_layer
    yield f"{root}/mlp/~/linear_1", ours.last_layer


def _maps_of_heads(reasoner: Reasoner) -> Iterator[tuple[str, Any]]:
    for k, task in enumerate(reasoner.tasks):
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
    if isinstance(decoder, NodePointerDecoder):
        return [*nodes, *edges, decoder.last]
    if isinstance(decoder, EdgePointerDecoder):
        return [*nodes[:2], *edges, nodes[2], decoder.last]
    if isinstance(decoder, GraphDecoder):
        return [decoder.from_nodes, decoder.from_graph]
    return [*nodes, *edges]
