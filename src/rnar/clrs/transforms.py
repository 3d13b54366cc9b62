"""What the models and protocols of the field change in the data before a network learns from it.

A change of the features is a pair of functions: one for the spec, which is done once, and one for each batch.
"""

from collections.abc import Container
from dataclasses import replace

import numpy as np

from rnar.clrs.batch import Batch
from rnar.clrs.registry import find
from rnar.clrs.spec import Spec, edge, node
from rnar.common.checking import checked


@checked
def randomise_positions(batch: Batch, rng: np.random.RandomState) -> Batch:
    """Random numbers in ascending order in place of the evenly spaced `pos`, separately in each of two strings.

    So that a network learns the order of the nodes and not their distance, which differs at other sizes.
    """
    pos = batch.inputs["pos"]
    drawn = rng.uniform(size=pos.shape)
    segment = np.cumsum(pos == 0, axis=1)  # a list of nodes starts where pos is zero
    ascending = np.take_along_axis(drawn, np.lexsort((drawn, segment), axis=1), axis=1)
    return replace(batch, inputs={**batch.inputs, "pos": ascending.astype(pos.dtype)})


def spec_with_order_as_hint(spec: Spec) -> Spec:
    """The fixed order `pred` as a hint `pred_h`, as in the reference's raw data.

    (That it is an input in the first place is the "static hint elimination" of Ibarz et al., 2022.)
    """
    if "pred" not in spec.inputs:
        return spec
    inputs = {name: feature for name, feature in spec.inputs.items() if name != "pred"}
    return spec._replace(inputs=inputs, hints={"pred_h": spec.inputs["pred"], **spec.hints})


@checked
def order_as_hint(batch: Batch) -> Batch:
    """The fixed order `pred` as a hint `pred_h` that is the same at each step."""
    if "pred" not in batch.inputs:
        return batch
    inputs = dict(batch.inputs)
    pred = inputs.pop("pred")
    repeated = np.where(batch.own_steps[..., None], pred, pred.dtype.type(0))
    return replace(batch, inputs=inputs, hints={"pred_h": repeated, **batch.hints})


def spec_without_hints(spec: Spec, names: Container[str]) -> Spec:
    """Less these hints."""
    return spec._replace(hints={name: feature for name, feature in spec.hints.items() if name not in names})


def without_hints(batch: Batch, names: Container[str]) -> Batch:
    """Less these hints, if it has them."""
    if not any(name in names for name in batch.hints):
        return batch
    return replace(batch, hints={name: array for name, array in batch.hints.items() if name not in names})


def spec_with_reversed_pointers(spec: Spec) -> Spec:
    """For every hint that is a node pointer p an edge hint p_reversed more."""
    return spec._replace(hints={**spec.hints, **{reversed_name(p): edge.mask for p in node_pointers(spec)}})


@checked
def reverse_pointers(batch: Batch) -> Batch:
    """Hint reversal (Bevilacqua et al., 2023): where a hint points from i to j, an edge hint says so to i.

    In message passing a pointer reaches the node that is pointed at; its reversal reaches the one that points.
    Pointers of edges have no reversal, and inputs and outputs stay as they are.
    """
    more, spec = {}, find(batch.task).spec
    if "pred" not in batch.inputs:
        spec = spec_with_order_as_hint(spec)
    for name in node_pointers(spec):
        if name not in batch.hints:  # it was left out
            continue
        pointer = batch.hints[name]  # [T, B, n]
        pointed_by = pointer[..., None, :] == np.arange(batch.nodes)[:, None]  # [T, B, j, i]
        more[reversed_name(name)] = (pointed_by & batch.own_steps[..., None, None]).astype(edge.mask.dtype)
    return replace(batch, hints={**batch.hints, **more})


def spec_with_reversed_inputs(spec: Spec) -> Spec:
    """For every input that is a node pointer p an edge input p_reversed more."""
    more = {reversed_name(p): edge.mask for p, feature in spec.inputs.items() if feature == node.pointer}
    return spec._replace(inputs={**spec.inputs, **more})


def reverse_inputs(batch: Batch) -> Batch:
    """Where an input points from i to j, an edge input says so to i: the reversal of pointers that never change."""
    more = {}
    for name, feature in find(batch.task).spec.inputs.items():
        if feature == node.pointer and name in batch.inputs:
            pointed_by = batch.inputs[name][:, None] == np.arange(batch.nodes)[:, None]  # [B, j, i]
            more[reversed_name(name)] = pointed_by.astype(edge.mask.dtype)
    return replace(batch, inputs={**batch.inputs, **more}) if more else batch


def node_pointers(spec: Spec) -> list[str]:
    return [name for name, feature in spec.hints.items() if feature == node.pointer]


def reversed_name(pointer: str) -> str:
    return f"{pointer}_reversed"
