"""The systems of the field by name. A model is a recipe: a processor, and what it sees of the data.

    find("rnar").build(["quickselect"], seed=0)     # a network with fresh weights

Your own aggregator is a model in ten lines. In a file `my_models.py` of yours:

    from rnar.models import Model
    from rnar.nn.aggregators import Aggregator
    from rnar.nn.processors.message_passing import MessagePassing

    class Soft(Aggregator):
        '''a_j = sum_i softmax_i(m_ij) m_ij'''
        ordered = False

        def forward(self, messages, edges=None, rng=None):  # messages [B, i, j, H]; None: all are sent
            sent, heard = messages, messages
            if edges is not None:
                sent, heard = messages * edges[..., None], messages.masked_fill(~edges[..., None], -1e9)
            return (heard.softmax(dim=1) * sent).sum(dim=1)

    mine = Model("mine", lambda size: MessagePassing(size, Soft(size), triplets=8, gate=True), reversal=True)

Then `my_models:mine` is its name wherever a model is asked for: `rnar models my_models:mine`.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import torch

from rnar.clrs import find as find_task
from rnar.clrs import transforms
from rnar.clrs.batch import Batch, Sample, as_batch
from rnar.clrs.spec import Spec, node
from rnar.common.blame import definition_of
from rnar.common.importing import imported
from rnar.common.names import nearest
from rnar.nn.aggregators import GRU, LSTM, Aggregator, BinaryGRU, Count, Janossy, Max, Shuffled
from rnar.nn.both import Gated, Summed
from rnar.nn.processors.forgetnet import ForgetNet, GatedForgetNet
from rnar.nn.processors.message_passing import MessagePassing
from rnar.nn.processors.processor import Processor
from rnar.nn.processors.relational_transformer import RelationalTransformer
from rnar.nn.processors.scan import Scan
from rnar.nn.reasoner import Feeding, Reasoner
from rnar.nn.triples import Pointers

MODELS: dict[str, Model] = {}
LARGEST_SIZE = 8192  # of a network: its weights take gigabytes then


class Paper(NamedTuple):
    authors: str
    year: int
    title: str

    def __str__(self) -> str:
        return f"{self.authors}, {self.year}"


@dataclass(frozen=True)
class Model:
    """A recipe for a network: a processor, and what it sees of the data. Only these two must be given:

    Args:
        name: By which it is found; letters, digits and . _ - only.
        processor: Makes a processor of a size: `lambda size: MessagePassing(size, LSTM(size))`.

    All else has the values of the benchmark. `build` makes networks, `batch` makes of samples what they see.
    """

    name: str
    processor: Callable[[int], Processor]
    size: int = 128
    """How many numbers the features of a node have, unless a run says otherwise."""
    reversal: bool = False
    """Is there an edge hint for each hint that is a node pointer, which says to i what i points at?"""
    static_reversal: bool = False
    """Is there such an edge input for each input that is a node pointer too? (The order of a list is one.)"""
    composed: bool = False
    """Are hints that mark nodes also encoded together with pointers: the node after a marked one, or before it?"""
    without: tuple[str, ...] = ()
    """Inputs and hints that the network does not see."""
    without_positions: float = 0.0
    """In training, the probability for each batch that the input `pos` is not seen."""
    hintless: tuple[str, ...] = ()
    """Tasks whose hints are not used: neither fed nor predicted."""
    order_as_hint: bool = False
    """Is the order of a list that never changes a hint, as in the raw data, and not an input?"""
    permutations_as_pointers: bool = False
    """Is an order of all nodes predicted as pointers like any others?"""
    pointers: Pointers = "means"
    """Are pointers of pairs kept as "triplets" too, and read off them, or as the "means" of the benchmark alone?"""
    feeding: Feeding = Feeding()
    """How hints are used."""
    xavier_on_scalars: bool = True
    """Do hints that are numbers begin with small weights?"""
    training: dict[str, Any] = field(default_factory=dict, hash=False)
    """What the model's own paper did in another way than the standard protocol (Ibarz et al., 2022)."""
    paper: Paper | None = None
    equation: str = ""
    """in one line: z = x || h are a node's encoded features and its last state, m_ij is the message from i to j"""
    differs: str = ""
    """where it differs from its source, in one sentence"""

    def __post_init__(self) -> None:
        if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]*", self.name):
            raise ValueError(f"a model cannot be called {self.name!r}: letters, digits and . _ - only")

    def spec(self, task: str) -> Spec:
        """The features of a task as this model sees them."""
        spec = transforms.spec_without_hints(find_task(task).spec, self._left_out(task))
        if self.reversal:
            spec = transforms.spec_with_reversed_pointers(spec)
        if self.static_reversal:
            spec = transforms.spec_with_reversed_inputs(spec)
        if self.order_as_hint:  # after the reversal: a pointer that never changes has none
            spec = transforms.spec_with_order_as_hint(spec)
        if self.permutations_as_pointers:
            outputs = {k: node.pointer if f == node.permutation else f for k, f in spec.outputs.items()}
            spec = spec._replace(outputs=outputs)
        return spec._replace(inputs={k: f for k, f in spec.inputs.items() if k not in self.without})

    def batch(self, batch: Batch | Sample) -> Batch:
        """A batch as this model sees it; once more changes nothing.

        Inputs that it does not see stay in the batch, which counts its nodes by them; no network reads what its spec
        does not name.
        """
        batch = as_batch(batch)
        batch = transforms.without_hints(batch, self._left_out(batch.task))
        spec = self.spec(batch.task)
        if spec.inputs.keys() - batch.inputs.keys():
            batch = transforms.reverse_inputs(batch)
        if batch.hints.keys() == spec.hints.keys():
            return batch
        if self.reversal:
            batch = transforms.reverse_pointers(batch)
        return transforms.order_as_hint(batch) if self.order_as_hint else batch

    def _left_out(self, task: str) -> tuple[str, ...]:
        """What of a task is not seen."""
        return (*self.without, *find_task(task).spec.hints) if task in self.hintless else self.without

    def build(self, tasks: str | Iterable[str], size: int | None = None, seed: int = 0) -> Reasoner:
        """A network for these tasks with fresh weights, which the seed decides."""
        size = self.size if size is None else size
        if not 1 <= size <= LARGEST_SIZE:
            raise ValueError(f"a network's size must be 1 to {LARGEST_SIZE}, not {size}")
        specs = {task: self.spec(task) for task in ([tasks] if isinstance(tasks, str) else tasks)}
        if not specs:
            raise ValueError("a network needs at least one task to learn")
        with torch.random.fork_rng(devices=()):  # others draw from the global generator: leave it as it was
            torch.default_generator.manual_seed(seed)
            return Reasoner(
                specs,
                self._processor(size),
                self.feeding,
                self.xavier_on_scalars,
                self.pointers,
                self.composed,
                self.without_positions,
            )

    def _processor(self, size: int) -> Processor:
        place = definition_of(self.processor)
        try:
            inspect.signature(self.processor).bind(size)
        except TypeError as error:
            raise ValueError(
                f"the model {self.name!r}: its processor is made of a size alone, but {error}{place}"
            ) from None
        found = self.processor(size)
        if not isinstance(found, Processor):
            raise ValueError(f"the model {self.name!r}: its processor must be a Processor, not {found!r}{place}")
        return found

    def parameters(self, task: str, size: int | None = None) -> int:
        """How many parameters a network for this task has."""
        return sum(parameter.numel() for parameter in self.build(task, size).parameters())


def register(model: Model, **changes: Any) -> Model:
    """Give a model of yours a name among the others; or a variant of it, with `changes` of its fields."""
    model = replace(model, **changes) if changes else model
    if model.name in MODELS:
        raise ValueError(f"there is a model {model.name!r} already; choose another name")
    MODELS[model.name] = model
    return model


def find(name: str) -> Model:
    """The model of that name; `module:attribute` imports one of yours, also from the current folder."""
    if ":" in name:
        return imported(name, Model, "model", "my_models:mine")
    if name not in MODELS:
        known = ", ".join(MODELS)
        raise ValueError(f"no model {name!r}{nearest(name, MODELS)}; there are {known}, and module:attribute for yours")
    return MODELS[name]


def is_ours(model: Model) -> bool:
    """Is it one of those below, and not a user's own?"""
    return model.name in OURS and MODELS[model.name] is model


def message_passing(aggregator: Callable[[int], Aggregator], **options: Any) -> Callable[[int], Processor]:
    """size -> message passing with that aggregator."""
    return lambda size: MessagePassing(size, aggregator(size), **options)


def triplet_gmpnn(aggregator: Callable[[int], Aggregator]) -> Callable[[int], Processor]:
    """size -> the Triplet-GMPNN of Ibarz et al. (2022) with that aggregator in place of its maximum."""
    return message_passing(aggregator, triplets=8, gate=True)


def scanning(aggregator: Callable[[int], Aggregator] = Max, **options: Any) -> Callable[[int], Processor]:
    """size -> Triplet-GMPNN with that aggregator and a scan."""
    return lambda size: Scan(MessagePassing(size, aggregator(size), triplets=8, gate=True), **options)


MPNN = register(
    Model(
        "mpnn",
        message_passing(Max),
        paper=Paper("Gilmer et al.", 2017, "Neural message passing for quantum chemistry"),
        equation="h_j' = LayerNorm(relu(O1 z_j + O2 max_i m_ij)), i over all nodes",
        differs="As the benchmark builds it (Veličković et al., 2022), which trained it with teacher forcing.",
    )
)
register(
    MPNN,
    name="pgn",
    processor=message_passing(Max, along_edges=True),
    paper=Paper("Veličković et al.", 2020, "Pointer graph networks"),
    equation="h_j' = LayerNorm(relu(O1 z_j + O2 max_i m_ij)), i over j and what pointers or edges join to it",
    differs="As the benchmark builds it (Veličković et al., 2022); the original learns to mask nodes as well.",
)
TRIPLET_GMPNN = register(
    MPNN,
    name="triplet-gmpnn",
    processor=triplet_gmpnn(Max),
    reversal=True,
    paper=Paper("Ibarz et al.", 2022, "A generalist neural algorithmic learner"),
    equation="mpnn with a gate, h_j' <- g_j h_j' + (1 - g_j) h_j, and max_a t_abc of triplets for its decoders",
    differs="Has the hint reversal of Bevilacqua et al. (2023), as the baseline of RNAR; its own paper has none.",
)
RNAR = register(
    TRIPLET_GMPNN,
    name="rnar",
    processor=triplet_gmpnn(LSTM),
    paper=Paper("Xu and Veličković", 2024, "Recurrent aggregators in neural algorithmic reasoning"),
    equation="triplet-gmpnn with LSTM(m_1j, ..., m_nj), its last output, in place of max_i m_ij",
    differs="Has triplets in all 30 tasks; the paper ran out of memory on four and used rnar-mpnn there.",
)
register(
    RNAR,
    name="rnar-mpnn",
    processor=message_passing(LSTM),
    equation="mpnn with LSTM(m_1j, ..., m_nj) in place of max_i m_ij",
    differs="The paper does not say whether this one has hint reversal; here it has.",
)
register(
    RNAR,
    name="rnar-nope",
    without=("pos",),
    equation="rnar that is not given the input pos; the LSTM still reads in node order",
    differs="The paper does not say how pos is withheld; here it is not encoded.",
)
for k in (1, 2, 3):
    register(
        RNAR,
        name=f"rnar-janossy-{k}",
        processor=triplet_gmpnn(lambda size, k=k: Janossy(LSTM(size), k)),
        equation=f"rnar with the mean over {k} random order{'s' * (k > 1)} p of LSTM(m_p(1)j, ..., m_p(n)j)",
        differs="The paper does not say who shares an order; here all nodes of a batch do, for one step.",
    )
register(
    RNAR,
    name="rnar-gru",
    processor=triplet_gmpnn(GRU),
    equation="rnar with a GRU in place of the LSTM",
    differs="Not in the paper: the same with a gate less.",
)
register(
    RNAR,
    name="rnar-binary-gru",
    processor=triplet_gmpnn(BinaryGRU),
    paper=Paper("Ong and Veličković", 2022, "Learnable commutative monoids for graph neural networks"),
    equation="rnar with a balanced tree of x + y = (GRU(x, y) + GRU(y, x)) / 2 over m_1j, ..., m_nj",
    differs="RNAR's paper suggests it and did not try; messages are not shuffled, no loss asks for associativity.",
)
register(
    Model(
        "rt",
        RelationalTransformer,
        size=192,
        order_as_hint=True,
        permutations_as_pointers=True,
        feeding=Feeding(hard=True, teacher=0.5),
        xavier_on_scalars=False,
        # sizes as the official sets count: string matchers have 20 letters then
        training=dict(
            learning_rate=2.5e-4,
            batch=4,
            clip=None,
            steps=80_000,
            sizes=(16,),
            random_positions=False,
            validate_every=80,
        ),
        paper=Paper(
            "Diao and Loynd", 2023, "Relational attention: generalizing transformers for graph-structured tasks"
        ),
        equation="3 layers of n_i += attention to n_j and s_ij over j, s_ij += MLP(s_ij || s_ji || n_j || n_i)",
        differs="No difference of the network is known; its authors drew batches from 10,000 fixed samples.",
    )
)
FORGETNET = register(
    MPNN,
    name="forgetnet",
    processor=lambda size: ForgetNet(MessagePassing(size, Max(size), triplets=8)),
    paper=Paper("Bohde et al.", 2024, "On the Markov property of neural algorithmic reasoning: analyses and methods"),
    equation="triplet-gmpnn without gate and history: z = x",
    differs="No code was published: that decoders do not see the last state, and that no gate is left, is chosen.",
)
register(
    FORGETNET,
    name="g-forgetnet",
    processor=lambda size: GatedForgetNet(MessagePassing(size, Max(size), triplets=8)),
    equation="forgetnet with z = x || g h, g = sigmoid(MLP(x || h)), a loss of alpha mean(g), alpha from 0 to 1",
    differs="No code was published: the gate's network, its start half open, and the mean as a norm are chosen.",
)


def beyond(name: str, equation: str, differs: str, **changes: Any) -> Model:
    """A model that nobody has published: Triplet-GMPNN with some changes. `benchmarks/variants.py` has more."""
    told = dict(name=name, paper=None, equation=equation, differs=f"Not in a paper: {differs}")
    return register(TRIPLET_GMPNN, **told, **changes)


beyond(
    "edge-pointers",
    "triplet-gmpnn with pointers of pairs P_ij = k in t_abc, and read off w . relu(all of i, j, k and P)",
    "triplet-gmpnn but for the three tasks whose pointers are of pairs.",
    pointers="triplets",
)
beyond(
    "linked",
    "edge-pointers, with each mark composed with each pointer, P m and P^T m, and with the inputs' pointers reversed",
    "triplet-gmpnn that can follow what points; has none of the hints of Binary Search.",
    static_reversal=True,
    composed=True,
    pointers="triplets",
    hintless=("binary_search",),
)
beyond(
    "scan",
    "triplet-gmpnn, x_j <- x_j + W s_j, s_j of an LSTM over z_1, ..., z_n and of one over z_n, ..., z_1",
    "one list is read a step, where RNAR reads one for every node.",
    processor=scanning(),
)
beyond(
    "scan-zero",
    "scan with W = 0 at first, so that it begins as triplet-gmpnn",
    "the scan, where order has to be asked for.",
    processor=scanning(from_zero=True),
)
beyond(
    "scan-shuffled",
    "scan that in training reads the nodes of every second batch in a random order",
    "the scan, where order cannot be relied on.",
    processor=scanning(shuffled=0.5),
)
beyond(
    "counting",
    "triplet-gmpnn with max_i m_ij + U (u + sum_i sigmoid(4 V m_ij)) / n in place of max_i m_ij",
    "a share of votes beside the maximum, on 32 questions that are learned.",
    processor=triplet_gmpnn(lambda size: Summed(Max(size), Count(size))),
)
beyond(
    "max-lstm",
    "triplet-gmpnn with g LSTM(m_1j, ..., m_nj) + (1 - g) max_i m_ij, g = sigmoid(G (both))",
    "in training the LSTM reads in a random order at every second step.",
    processor=triplet_gmpnn(lambda size: Gated(Max(size), Shuffled(LSTM(size), 0.5))),
)
beyond(
    "combined",
    "scan-zero of 32 numbers each way, counting with 16 questions, and edge-pointers",
    "also has composed hints and reversed inputs, and none of the hints of Binary Search.",
    processor=scanning(
        lambda size: Summed(Max(size), Count(size, questions=16)), from_zero=True, shuffled=0.25, reads=32, width=32
    ),
    static_reversal=True,
    composed=True,
    pointers="triplets",
    hintless=("binary_search",),
)
OURS = frozenset(MODELS)
FOUND = {
    "linked": "Mean of the panel's eight tasks at n=64 after 1,000 steps: 86.3, triplet-gmpnn 68.6, rnar 58.7. "
    "The lead is three tasks: Binary Search, Floyd-Warshall, Naïve String Matcher; on the other five 84.8, "
    "triplet-gmpnn 89.9. A step costs 0.86 to 1.04 times one of triplet-gmpnn.",
    "combined": "Mean of the panel's eight tasks at n=64 after 1,000 steps: 80.2, linked 86.3, triplet-gmpnn 68.6, "
    "rnar 58.7. Insertion Sort 69.9 and 56.2 with two seeds, without scan and counting 85.6 and more. Quickselect, "
    "2,474 steps: none of 32 samples. "
    "A step costs 1.02 to 1.2 times one of triplet-gmpnn, 1.4 where little is computed (rnar: 2.0 to 3.4).",
    "edge-pointers": "Floyd-Warshall at n=64 after 2,485 steps, one seed: 88.5; the paper has 48.5 for triplet-gmpnn.",
    "scan": "Topological Sort at n=64 after 1,000 steps, one seed: 98.8, triplet-gmpnn 88.8, rnar 86.8; "
    "LCS Length 72.9, triplet-gmpnn 85.5. A step costs 1.2 times one of triplet-gmpnn.",
}
"""what came of training some of them here (docs/reproduction.md)"""
