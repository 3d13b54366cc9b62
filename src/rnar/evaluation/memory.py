"""How samples are cut into pieces that fit into memory."""

import numpy as np

from rnar.clrs.batch import Batch
from rnar.common.memory import check_memory, free_memory
from rnar.nn.reasoner import Reasoner
from rnar.runtime.shares import shares
from rnar.runtime.workers import Workers

BUDGET = 2_000_000_000  # bytes
MOST = 32  # samples; more at once are no faster
TENSORS = 18  # of all pairs that the processor holds at its peak: see benchmarks/evaluation_memory.py
TRIPLES = 4  # that a decoder of edge pointers holds
COPIES = 4  # of true hints while they become what the model sees
FLOAT = 4  # bytes
KEPT = 2  # tensors of all pairs, at least, that training keeps of a step: 2.3 of MPNN, 8 of RNAR, 44 of RT
SHARE = 0.5  # of free memory that may be taken


def cut(workers: Workers, batch: Batch, hints: bool, budget: int) -> list[np.ndarray]:
    """The places of samples that are tried together: pieces of like work, as many for each core."""
    check_step(workers.reasoner, batch.task, batch.nodes)
    if _on_cpu(workers.reasoner) and (free := free_memory()) is not None:
        budget = min(budget, int(SHARE * free))
    at_once = samples_at_once(workers.reasoner, batch, hints, budget // workers.threads)
    rounds = -(-batch.size // (at_once * workers.threads))
    return [some for some in shares(batch.lengths, batch.nodes, rounds * workers.threads, at_once) if len(some)]


def samples_at_once(reasoner: Reasoner, batch: Batch, hints: bool, budget: int) -> int:
    """How many samples of a batch a thread takes at a time, if it has so many bytes: at least one."""
    needed = step_bytes(reasoner, batch.task, batch.nodes)
    if hints:
        features = reasoner.heads_of(batch.task).spec.hints.values()
        stored = sum(feature.width(batch.nodes) * feature.dtype().nbytes for feature in features)
        needed += COPIES * int(batch.lengths.max()) * stored
    return max(1, min(MOST, budget // needed))


def check_step(reasoner: Reasoner, task: str, nodes: int, learned: int = 0) -> None:
    """Raise unless a step of one sample fits into memory, and what is kept of a step for the gradients of as many
    samples as are learned at once; of a GPU's memory nothing is known."""
    if _on_cpu(reasoner):
        kept = learned * KEPT * FLOAT * nodes**2 * reasoner.size
        what = f"{task}: {nodes} nodes are too many for this network: the features of a step"
        check_memory(max(kept, step_bytes(reasoner, task, nodes)), what)


def _on_cpu(reasoner: Reasoner) -> bool:
    return next(reasoner.parameters()).device.type == "cpu"


def step_bytes(reasoner: Reasoner, task: str, nodes: int) -> int:
    """About how much one sample needs for a step: it is all in features of pairs, and logits of triples.

    Each decoder of pointers holds a tensor of all pairs besides those of the processor.
    """
    heads = reasoner.heads_of(task)
    features = [*heads.decoded_hints.values(), *heads.spec.outputs.values()]
    pointers = sum(feature.kind in ("pointer", "permutation") for feature in features)
    triples = sum(feature.place == "edge" and feature.kind == "pointer" for feature in features)
    return FLOAT * nodes**2 * ((TENSORS + pointers) * reasoner.size + TRIPLES * triples * nodes)
