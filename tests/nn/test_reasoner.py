"""A reasoner is a module like any other: autograd, hooks, copies, precision, compilation, several processes."""

from __future__ import annotations

import copy
import pickle
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.distributed as dist
from torch import Tensor, nn

from helpers.distributed import PROCESSES, learn_half
from helpers.evaluating import prepared
from helpers.scoring import predict
from rnar import auxiliary_loss
from rnar.clrs import Batch, find, sample
from rnar.functional import computed
from rnar.models import MODELS
from rnar.nn.aggregators import LSTM, Max
from rnar.nn.processors.message_passing import MessagePassing
from rnar.nn.processors.processor import ProcessorOutput
from rnar.nn.reasoner import Reasoner
from rnar.runtime import backward

SIZE = 8


def network(processor: nn.Module | None = None, task: str = "bfs") -> tuple[Reasoner, Batch]:
    torch.manual_seed(0)
    processor = processor or MessagePassing(SIZE, LSTM(SIZE), triplets=4, gate=True)
    return Reasoner({task: find(task).spec}, processor), sample(task, n=5, batch=3, seed=0)


def answers(reasoner: nn.Module, batch: Batch) -> list[Tensor]:
    """All logits of outputs and hints."""
    prediction = predict(reasoner, batch)  # type: ignore[arg-type]
    return [*prediction.outputs.values(), *prediction.hints.values()]  # type: ignore[list-item]


def same(found: list[Tensor], expected: list[Tensor]) -> bool:
    return all(torch.equal(x, y) for x, y in zip(found, expected, strict=True))


def gradients(reasoner: nn.Module) -> list[Tensor]:
    return [parameter.grad for parameter in reasoner.parameters() if parameter.grad is not None]


def learn(reasoner: Reasoner, batch: Batch) -> None:
    """One training step."""
    reasoner.zero_grad()
    reasoner.loss(batch).backward()
    torch.optim.SGD(reasoner.parameters(), lr=0.1).step()


def test_a_batch_gives_outputs_hints_and_the_sum_of_their_mean_losses():
    reasoner, batch = network()
    prediction, spec = reasoner(batch), find("bfs").spec
    assert prediction.outputs.keys() == spec.outputs.keys() and prediction.hints.keys() == spec.hints.keys()
    assert prediction.outputs["pi"].shape == (3, 5, 5)
    assert prediction.hints["pi_h"].shape == (batch.lengths.max() - 1, 3, 5, 5)
    expected = torch.stack([total / count for total, count in prediction.losses.values()]).sum()
    assert torch.isclose(prediction.loss, expected) and torch.equal(reasoner.loss(batch), prediction.loss)
    assert predict(reasoner, batch, hints=False).hints == {}


@pytest.mark.parametrize("task", ["bfs", "insertion_sort", "floyd_warshall"])
def test_the_gradient_of_the_loss_is_that_of_finite_differences(task):
    reasoner, batch = network(task=task)
    reasoner.double().loss(batch).backward()
    rng = torch.Generator().manual_seed(1)
    way = [torch.randn(p.shape, generator=rng, dtype=torch.double) for p in reasoner.parameters()]
    expected = sum((p.grad * x).sum() for p, x in zip(reasoner.parameters(), way, strict=True) if p.grad is not None)

    def moved(by: float) -> Tensor:
        with torch.no_grad():
            for parameter, x in zip(reasoner.parameters(), way, strict=True):
                parameter += by * x
            return reasoner.loss(batch)

    found = (moved(1e-6) - moved(-2e-6)) / 2e-6
    torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-6)


def test_the_gradients_are_those_of_the_runtime():
    reasoner, batch = network()
    reasoner.loss(batch).backward()
    expected = [gradient.clone() for gradient in gradients(reasoner)]
    reasoner.zero_grad()
    backward(reasoner, batch, memory=0)
    for gradient, other in zip(gradients(reasoner), expected, strict=True):
        torch.testing.assert_close(gradient, other)


LINEARS = [name for name, x in network()[0].named_modules() if name[:9] == "processor" and isinstance(x, nn.Linear)]


@pytest.mark.parametrize("name", ["", "processor", "processor.aggregator", *LINEARS])
def test_a_forward_hook_is_called_and_may_change_what_comes_out(name):
    reasoner, batch = network(task="floyd_warshall")  # whose decoders read the triplets too
    expected, seen = answers(reasoner, batch), []

    def look(module: nn.Module, inputs: Any, output: Any) -> None:
        seen.append(output)

    def change(module: nn.Module, inputs: Any, output: Any) -> Any:
        if isinstance(output, ProcessorOutput):
            return output._replace(nodes=2 * computed(output.nodes))
        if isinstance(output, Tensor):
            return 1 - 2 * output
        output.outputs["Pi"] = 1 - 2 * output.outputs["Pi"]
        return output

    module = reasoner.get_submodule(name)
    with module.register_forward_hook(look):
        for x, y in zip(answers(reasoner, batch), expected, strict=True):
            torch.testing.assert_close(x, y)
    assert len(seen) == (1 if name == "" else batch.lengths.max() - 1)
    with module.register_forward_hook(change):
        assert not same(answers(reasoner, batch), expected)
    assert same(answers(reasoner, batch), expected)


def by_state_dict(reasoner: Reasoner, folder: Path) -> Reasoner:
    torch.save(reasoner.state_dict(), folder / "weights.pt")
    other, _ = network()
    learn(other, sample("bfs", n=4, batch=2, seed=9))
    other.load_state_dict(torch.load(folder / "weights.pt"))
    return other


def by_file(reasoner: Reasoner, folder: Path) -> Reasoner:
    torch.save(reasoner, folder / "network.pt")
    return torch.load(folder / "network.pt", weights_only=False)


COPIES: dict[str, Callable[[Reasoner, Path], Reasoner]] = {
    "deepcopy": lambda reasoner, _: copy.deepcopy(reasoner),
    "pickle": lambda reasoner, _: pickle.loads(pickle.dumps(reasoner)),
    "a file": by_file,
    "a file of weights": by_state_dict,
}


@pytest.mark.parametrize("trained", [False, True])
@pytest.mark.parametrize("way", COPIES)
def test_a_copy_predicts_and_learns_the_same_and_is_a_network_of_its_own(way, trained, tmp_path):
    reasoner, batch = network()
    if trained:
        learn(reasoner, batch)
    other, expected = COPIES[way](reasoner, tmp_path), answers(reasoner, batch)
    assert same(answers(other, batch), expected)
    learn(other, batch)
    assert same(answers(reasoner, batch), expected) and not same(answers(other, batch), expected)
    learn(reasoner, batch)
    assert same(answers(reasoner, batch), answers(other, batch))


def test_in_double_precision_it_predicts_the_same_more_exactly():
    reasoner, batch = network()
    expected = answers(reasoner, batch)
    for x, y in zip(answers(reasoner.double(), batch), expected, strict=True):
        assert x.dtype == torch.double
        torch.testing.assert_close(x, y.double(), rtol=1e-3, atol=1e-4)


@pytest.mark.filterwarnings("ignore:The .grad attribute")  # dynamo looks at it
def test_a_compiled_processor_gives_the_same():
    (reasoner, batch), (compiled, _) = network(), network()
    compiled.processor = torch.compile(compiled.processor, backend="eager")  # type: ignore[assignment]
    expected, found = reasoner(batch), compiled(batch)
    for name, logits in (expected.outputs | expected.hints).items():
        torch.testing.assert_close((found.outputs | found.hints)[name], logits, rtol=1e-4, atol=1e-5)
    expected.loss.backward()
    found.loss.backward()
    for x, y in zip(gradients(compiled), gradients(reasoner), strict=True):
        torch.testing.assert_close(x, y, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name", ["rnar", "triplet-gmpnn", "rt"])
def test_autocast_to_bfloat16_changes_losses_by_little(name):
    model = MODELS[name]
    reasoner, batch = model.build("bfs", size=32), model.batch(sample("bfs", n=5, batch=8, seed=0))
    exact = reasoner.loss(batch)
    with torch.autocast("cpu", torch.bfloat16):
        rounded = reasoner.loss(batch)
        rounded.backward()
    assert rounded.item() == pytest.approx(exact.item(), rel=0.05)
    assert all(gradient.isfinite().all() and gradient.dtype == torch.float32 for gradient in gradients(reasoner))


@pytest.mark.skipif(not (dist.is_available() and dist.is_gloo_available()), reason="no gloo")
def test_data_parallel_processes_have_the_mean_of_their_gradients(tmp_path):
    torch.multiprocessing.spawn(learn_half, (tmp_path,), nprocs=PROCESSES)  # type: ignore[attr-defined]
    _, reasoner, batch = prepared("bfs", samples=2 * PROCESSES)
    for rank in range(PROCESSES):  # gradients of both add up
        (reasoner.loss(batch.part(slice(2 * rank, 2 * rank + 2))) / PROCESSES).backward()
    for rank in range(PROCESSES):
        for gradient, parameter in zip(torch.load(tmp_path / f"{rank}.pt"), reasoner.parameters(), strict=True):
            torch.testing.assert_close(gradient, parameter.grad)


class Calm(nn.Module):
    """A processor of a user's: another one, whose states are asked to stay small."""

    def __init__(self, inner: nn.Module):
        super().__init__()
        self.inner = inner

    def forward(self, graph, state):
        output = self.inner(graph, state)
        auxiliary_loss("calm", 0.01 * output.state.square().mean(dim=(1, 2)))
        return output


class Remembering(nn.Module):
    """One whose state is two tensors, as a tuple or a dict: the last nodes, and a running mean of all before."""

    def __init__(self, as_dict: bool):
        super().__init__()
        self.size, self.as_dict, self.map = SIZE, as_dict, nn.Linear(3 * SIZE, SIZE)

    def forward(self, graph, state):
        zeros = graph.zeros()
        last, mean = (zeros, zeros) if state is None else state.values() if self.as_dict else state
        new = torch.tanh(self.map(torch.cat([graph.nodes, last, mean], dim=-1)))
        parts = dict(last=new, mean=(mean + new) / 2)
        return ProcessorOutput(parts if self.as_dict else tuple(parts.values()), new)


def test_a_processor_of_ones_own_may_wrap_another_and_add_to_the_loss():
    reasoner, batch = network(Calm(MessagePassing(SIZE, Max(SIZE), triplets=4)))
    plain = Reasoner({"bfs": find("bfs").spec}, reasoner.processor.inner)  # type: ignore[arg-type]
    plain.heads.load_state_dict(reasoner.heads.state_dict())
    assert same(answers(reasoner, batch), answers(plain, batch))
    total, count = reasoner(batch).losses["calm"]
    assert count == (batch.lengths - 1).clip(min=1).sum() and total > 0
    torch.testing.assert_close(reasoner.loss(batch), plain.loss(batch) + total / count)


@pytest.mark.parametrize("as_dict", [False, True])
def test_a_state_may_be_a_tuple_or_a_dict_and_samples_leave_as_they_end(as_dict):
    reasoner, batch = network(Remembering(as_dict), "quickselect")
    assert len(set(batch.lengths.tolist())) > 1
    together = predict(reasoner, batch)
    for b in range(batch.size):
        alone, steps = predict(reasoner, batch.part(slice(b, b + 1))), batch.lengths[b] - 1
        torch.testing.assert_close(together.outputs["median"][b], alone.outputs["median"][0])  # type: ignore[index]
        for name, logits in alone.hints.items():
            torch.testing.assert_close(together.hints[name][:steps, b], logits[:, 0])
    found = []
    for memory in (0, None):
        reasoner.zero_grad()
        backward(reasoner, batch, memory=memory)
        found.append([gradient.clone() for gradient in gradients(reasoner)])
    for x, y in zip(*found, strict=True):
        torch.testing.assert_close(x, y)


class Wrong(nn.Module):
    """A processor that returns what it is told to."""

    def __init__(self, output: Callable[[Any], Any]):
        super().__init__()
        self.size, self.output = SIZE, output

    def forward(self, graph, state):
        return self.output(graph)


WRONG: dict[str, tuple[Callable[[Any], Any], str]] = {
    "a tuple": (lambda graph: (None, graph.nodes, None), "must return ProcessorOutput.*, not .*tuple"),
    "a tensor": (lambda graph: graph.nodes, "must return ProcessorOutput.*, not .*Tensor"),
    "nothing": (lambda graph: None, "must return ProcessorOutput.*, not .*None"),
    "no nodes": (lambda graph: ProcessorOutput(None, None), r"must be \[batch, nodes, features\]"),  # type: ignore[arg-type]
    "nodes of the batch": (lambda graph: ProcessorOutput(None, graph.graph), r"must be \[batch, nodes, features\]"),
    "nodes without features": (
        lambda graph: ProcessorOutput(None, graph.nodes[..., 0]),
        r"makes nodes \(1, 2\).*must be \[batch, nodes, features\]",
    ),
    "a node too many": (
        lambda graph: ProcessorOutput(None, graph.nodes[:, [0, 1, 1]]),
        r"makes nodes \(1, 3, 8\).*must be \[batch, nodes, features\]",
    ),
    "edges of nodes": (
        lambda graph: ProcessorOutput(None, graph.nodes, graph.nodes),
        r"makes edges \(1, 2, 8\).*must be \[batch, nodes, nodes, features\]",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_processor_is_refused_in_one_line(name):
    output, said = WRONG[name]
    with pytest.raises(ValueError, match=said) as error:
        network(Wrong(output))
    assert "\n" not in str(error.value) and "test_reasoner.py, line " in str(error.value)


def test_a_processor_that_does_not_tell_its_size_is_refused_in_one_line():
    with pytest.raises(ValueError, match="Identity.* size") as error:
        network(nn.Identity())
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("name", ["rnar", "triplet-gmpnn"])
def test_a_step_asks_few_times_for_products_of_weights_and_whether_a_map_has_hooks(name):
    model, calls = MODELS[name], Counter()
    reasoner, batch = model.build("quickselect", size=8), model.batch(sample("quickselect", n=4, batch=4, seed=0))
    reasoner(batch)  # imports and compiles

    def count(frame: Any, event: str, _: Any) -> None:
        calls[frame.f_code.co_name] += event == "call"

    sys.setprofile(count)
    try:
        with torch.no_grad():
            reasoner(batch)
    finally:
        sys.setprofile(None)
    steps = batch.lengths.max() - 1
    assert calls["of_weights"] < 30 * steps and calls["is_plain"] < 20 * steps


@pytest.mark.parametrize("task", ["bfs", "insertion_sort", "floyd_warshall"])
@pytest.mark.parametrize("name", MODELS)
def test_no_two_gradients_share_memory(name, task):
    model = MODELS[name]
    reasoner, batch = model.build(task, size=16), model.batch(sample(task, n=4, batch=2, seed=0))
    reasoner.loss(batch).backward()
    found = gradients(reasoner)
    for k, gradient in enumerate(found):
        gradient.fill_(k)
    assert all((gradient == k).all() for k, gradient in enumerate(found))
