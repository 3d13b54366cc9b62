"""Properties of every aggregator that there is, and of the one in the examples: a new one is tested at once."""

import inspect
import itertools
from typing import Any

import pytest
import torch

from helpers.examples import example
from rnar.functional import Affine, lazy
from rnar.functional.scope import Scope, entered
from rnar.nn.aggregators import GRU, LSTM, Aggregator, BinaryGRU, Count, Janossy, Max, Shuffled
from rnar.nn.both import Added, Both, Gated, Mapped, Summed
from rnar.nn.graph import Graph
from rnar.nn.linear import Linear
from rnar.nn.processors.message_passing import MessagePassing

B, N, H = 2, 5, 4


def concrete(kind: type) -> list[type]:
    """All subclasses that can be made of a size alone, and not of other aggregators."""
    found = [other for below in kind.__subclasses__() for other in concrete(below)]
    return found if inspect.isabstract(kind) or "size" not in inspect.signature(kind).parameters else [kind, *found]


def added(size: int) -> Added:
    """As it is when it has learned something: at first the second says nothing."""
    made = Added(Max(size), LSTM(size))
    torch.nn.init.normal_(made.map.weight)
    return made


AGGREGATORS = {kind.__name__.lower(): kind for kind in concrete(Aggregator)}
AGGREGATORS |= {f"janossy-{k}": lambda size, k=k: Janossy(LSTM(size), k) for k in (1, 2, 3)}
AGGREGATORS |= {
    "max and count, summed": lambda size: Summed(Max(size), Count(size)),
    "max and count, mapped": lambda size: Mapped(Max(size), Count(size)),
    "max and lstm, added": added,
    "max and lstm, gated": lambda size: Gated(Max(size), LSTM(size)),
    "max and count, gated": lambda size: Gated(Max(size), Count(size), price=0.1),
    "lstm, never shuffled": lambda size: Shuffled(LSTM(size), 0.0),
}
EVERY = {**AGGREGATORS, "soft, of the examples": example("aggregator").Soft}


def messages(senders: int = N, receivers: int = N, seed: int = 0) -> torch.Tensor:
    return torch.randn(B, senders, receivers, H, generator=torch.Generator().manual_seed(seed))


def made(name: str):
    torch.manual_seed(1)
    return EVERY[name](H)


def scope_of(seed: int = 3) -> Scope:
    """A scope whose draws this seed decides."""
    scope = Scope()
    scope.draws = lambda *_: torch.Generator().manual_seed(seed)
    return scope


def drawn(aggregate: Aggregator, *inputs: Any, seed: int = 3) -> torch.Tensor:
    """With the same draws each time, for those that draw."""
    with entered(scope_of(seed)):
        return aggregate(*inputs)


@pytest.mark.parametrize("name", EVERY)
@pytest.mark.parametrize("senders", [1, 2, 3, 7, 8])
def test_every_receiver_gets_a_vector(name, senders):
    assert made(name)(messages(senders, 3)).shape == (B, 3, H)


@pytest.mark.parametrize("name", EVERY)
def test_the_order_of_senders_matters_only_if_ordered(name):
    aggregate, x = made(name), messages()
    order = torch.tensor([3, 0, 4, 1, 2])
    same = torch.allclose(drawn(aggregate, x), drawn(aggregate, x[:, order]), atol=1e-6)
    assert same != aggregate.ordered


@pytest.mark.parametrize("name", EVERY)
def test_receivers_do_not_mix(name):
    aggregate, x = made(name), messages()
    changed = x.clone()
    changed[:, :, 2] += 1
    before, after = drawn(aggregate, x), drawn(aggregate, changed)
    others = [0, 1, 3, 4]
    assert torch.allclose(before[:, others], after[:, others], atol=1e-6)
    assert not torch.allclose(before[:, 2], after[:, 2], atol=1e-3)


@pytest.mark.parametrize("name", EVERY)
def test_absent_edges_say_nothing(name):
    aggregate, x = made(name), messages()
    edges = torch.rand(B, N, N, generator=torch.Generator().manual_seed(5)) < 0.5
    edges[:, 0] = True
    loud = torch.where(edges[..., None], x, 100.0)
    assert torch.allclose(drawn(aggregate, x, edges), drawn(aggregate, loud, edges), atol=1e-6)


@pytest.mark.parametrize("name", [name for name in EVERY if not name.startswith("janossy")])
def test_absent_senders_are_as_if_they_did_not_exist(name):
    aggregate, x = made(name), messages()
    edges = torch.zeros(B, N, N, dtype=torch.bool)
    edges[:, [0, 2, 3]] = True
    assert torch.allclose(aggregate(x, edges), aggregate(x[:, [0, 2, 3]]), atol=1e-6)


@pytest.mark.parametrize("name", EVERY)
def test_all_edges_are_the_same_as_none_given(name):
    aggregate, x = made(name), messages()
    everywhere = torch.ones(B, N, N, dtype=torch.bool)
    assert torch.allclose(drawn(aggregate, x, everywhere), drawn(aggregate, x), atol=1e-6)


@pytest.mark.parametrize("name", EVERY)
@pytest.mark.parametrize("masked", [False, True])
def test_a_linear_map_before_it_may_be_composed_with_it(name, masked):
    aggregate, x = made(name), messages()
    linear = Linear(H, H)
    edges = torch.rand(B, N, N, generator=torch.Generator().manual_seed(5)) < 0.5 if masked else None
    composed = linear(lazy(x))
    assert isinstance(composed, Affine)
    assert torch.allclose(drawn(aggregate, composed, edges), drawn(aggregate, linear(x), edges), atol=1e-5)


@pytest.mark.parametrize("name", EVERY)
@pytest.mark.parametrize("masked", [False, True])
def test_gradients_agree_with_finite_differences(name, masked):
    aggregate = made(name).double()
    x = messages(3, 2).double().requires_grad_()
    edges = torch.tensor([[1, 0], [1, 1], [0, 1]], dtype=torch.bool).expand(B, 3, 2) if masked else None
    weights = list(aggregate.parameters())

    def function(x, *_):
        return drawn(aggregate, x, edges)

    assert torch.autograd.gradcheck(function, (x, *weights))


def test_the_lstm_is_the_textbooks_cell_in_node_order():
    aggregate, x = made("lstm"), messages()
    assert isinstance(aggregate, LSTM)
    state = cell = torch.zeros(B, N, H)
    for i in range(N):
        gates = x[:, i] @ aggregate.from_message.T + state @ aggregate.from_state.T + aggregate.bias
        into, forget, candidate, out = gates.chunk(4, dim=-1)
        cell = torch.sigmoid(forget) * cell + torch.sigmoid(into) * torch.tanh(candidate)
        state = torch.sigmoid(out) * torch.tanh(cell)
    assert torch.allclose(aggregate(x), state, atol=1e-6)
    assert (aggregate.bias[H : 2 * H] == 1).all()  # the forget gate's


def test_the_gru_is_torchs_own():
    aggregate, x = made("gru"), messages()
    assert isinstance(aggregate, GRU)
    reference = torch.nn.GRU(H, H)
    with torch.no_grad():
        reference.weight_ih_l0.copy_(aggregate.from_message)
        reference.weight_hh_l0.copy_(aggregate.from_state)
        reference.bias_ih_l0.copy_(aggregate.bias)
        reference.bias_hh_l0.zero_()
    expected = reference(x.transpose(0, 1).reshape(N, B * N, H))[0][-1].view(B, N, H)
    assert torch.allclose(aggregate(x), expected, atol=1e-6)


def test_binary_gru_joins_neighbours_and_passes_the_odd_one_up():
    aggregate, x = made("binarygru"), messages(5)
    assert isinstance(aggregate, BinaryGRU)

    def join(a, b):
        a, b = a.reshape(-1, H), b.reshape(-1, H)
        return ((aggregate.cell(a, b) + aggregate.cell(b, a)) / 2).view(B, N, H)

    m = x.unbind(dim=1)
    expected = join(join(join(m[0], m[1]), join(m[2], m[3])), m[4])
    assert torch.allclose(aggregate(x), expected, atol=1e-6)


def test_janossy_over_all_permutations_is_the_exact_mean():
    inner, x = made("lstm"), messages(3)
    orders = [torch.tensor(order) for order in itertools.permutations(range(3))]
    expected = torch.stack([inner(x[:, order]) for order in orders]).mean(dim=0)
    found = Janossy(inner, len(orders)).mean_over(orders, x)
    assert torch.allclose(found, expected, atol=1e-6)
    shuffled = Janossy(inner, len(orders)).mean_over(orders, x[:, [2, 0, 1]])
    assert torch.allclose(found, shuffled, atol=1e-6)  # equivariant, once all orders are taken


@pytest.mark.parametrize("k", [1, 2, 3])
def test_janossy_draws_k_orders_anew_and_the_generator_decides(k):
    aggregate, x = made(f"janossy-{k}"), messages()
    assert torch.equal(drawn(aggregate, x), drawn(aggregate, x))
    with entered(scope_of()):
        assert not torch.allclose(aggregate(x), aggregate(x))
    assert len(aggregate.orders(N)) == k


def test_a_count_is_the_share_of_senders_that_say_yes_to_a_question_and_knows_how_many_they_are():
    aggregate, x = Count(H, questions=3), messages()
    with torch.no_grad():
        aggregate.one.copy_(torch.tensor([0.0, 1.0, -2.0]))
    expected = torch.empty(B, N, H)
    for b, j in itertools.product(range(B), range(N)):
        votes = sum(1 / (1 + torch.exp(-4 * (aggregate.question.weight @ x[b, i, j]))) for i in range(N))
        expected[b, j] = aggregate.answer.weight @ ((votes + aggregate.one) / N)
    assert torch.allclose(aggregate(x), expected, atol=1e-6)


def test_hard_questions_are_counted_exactly_at_any_size_and_have_the_gradient_of_soft_ones():
    hard, soft = Count(1, questions=1, hard=True).double(), Count(1, questions=1).double()
    soft.load_state_dict(hard.state_dict())
    x = torch.linspace(-1, 1, 64, dtype=torch.double).view(1, 64, 1, 1)
    with torch.no_grad():
        hard.question.weight.fill_(1), soft.question.weight.fill_(1)
        hard.answer.weight.fill_(1), soft.answer.weight.fill_(1)
    assert hard(x).item() == 0.5 and hard(x - 0.5).item() == 0.25 and hard(x[:, :32]).item() == 0.0
    gradients = []
    for aggregate in (hard, soft):
        leaf = x.clone().requires_grad_()
        aggregate(leaf).sum().backward()
        gradients.append(leaf.grad)
    assert torch.allclose(*gradients)  # type: ignore[arg-type]


def test_added_begins_as_the_first_alone_and_gated_is_between_the_two():
    x = messages()
    torch.manual_seed(0)
    first, second = Max(H), LSTM(H)
    assert torch.equal(Added(first, second)(x), first(x))
    gated = Gated(first, second)
    p, q = first(x), second(x)
    assert torch.allclose(gated(x), p + gated.openness(p, q) * (q - p), atol=1e-6)
    for bias, expected in ((-1e4, p), (1e4, q)):
        with torch.no_grad():
            gated.gate.bias.fill_(bias)
        assert torch.allclose(gated(x), expected, atol=1e-6)


def test_the_price_of_order_is_a_loss_of_the_processor():
    torch.manual_seed(0)
    gated, linear, x = Gated(Max(H), LSTM(H), price=0.5), Linear(H, H), messages()
    with entered(scope_of()) as scope:
        found = gated(linear(lazy(x)))
    p, q = gated.first(linear(x)), gated.second(linear(x))
    assert torch.allclose(found, gated(linear(x)), atol=1e-5)
    assert torch.allclose(scope.losses["order"], 0.5 * gated.openness(p, q).mean(dim=(1, 2)), atol=1e-5)
    graph = Graph(torch.randn(B, N, H), torch.randn(B, N, N, H), torch.randn(B, H))
    for aggregator, losses in ((gated, {"order"}), (Gated(Max(H), LSTM(H)), set())):
        with entered(scope_of()) as scope:
            MessagePassing(H, aggregator)(graph)
        assert scope.losses.keys() == losses


def test_an_order_is_shuffled_in_training_alone_and_the_generator_decides():
    aggregate, x = Shuffled(made("lstm"), 0.5), messages()
    own = aggregate.inner(x)
    found, again = ([drawn(aggregate, x, seed=seed) for seed in range(60)] for _ in range(2))
    assert all(torch.equal(a, b) for a, b in zip(found, again, strict=True))
    assert 15 < sum(torch.equal(each, own) for each in found) < 45
    aggregate.eval()
    assert all(torch.equal(drawn(aggregate, x, seed=seed), own) for seed in range(60))
    with pytest.raises(ValueError, match="p is a probability, from 0 to 1, not 2"):
        Shuffled(made("lstm"), 2)


def test_two_aggregators_of_two_sizes_are_an_error():
    with pytest.raises(ValueError, match="must have one size, not 4 and 5"):
        Mapped(Max(4), Max(5))
    assert issubclass(Mapped, Both) and not Mapped(Max(4), Count(4)).ordered
