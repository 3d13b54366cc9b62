"""The reasoner as a whole: batches, gradients, feeding, memory of steps, several tasks, several cores."""

from collections import Counter

import pytest
import torch

import rnar.clrs
from helpers.scoring import scores
from rnar.clrs import Stream, find
from rnar.engine import backward, losses, predict
from rnar.engine.losses import counts, total_loss
from rnar.engine.workers import Workers
from rnar.models import find as find_model
from rnar.nn.aggregators import GRU, LSTM, Max, Sum
from rnar.nn.kinds import Ring
from rnar.nn.processors.message_passing import MessagePassing
from rnar.nn.reasoner import Feeding, Reasoner

SIZE = 8
TASKS = ["quickselect", "heapsort", "bfs", "floyd_warshall", "lcs_length", "segments_intersect", "bridges"]


def made(*tasks, feeding=None, aggregator=LSTM, seed=0, size=SIZE) -> Reasoner:
    torch.manual_seed(seed)
    processor = MessagePassing(size, aggregator(size), triplets=8, gate=True)
    return Reasoner({task: find(task).spec for task in tasks}, processor, feeding)


def data(task, batch=5, n=6, seed=0):
    return rnar.clrs.sample(task, n=n, batch=batch, seed=seed)


def gradients(reasoner):
    return {name: p.grad.clone() for name, p in reasoner.named_parameters() if p.grad is not None}


def assert_same(found, expected, tolerance):
    assert found.keys() == expected.keys()
    for name, x in expected.items():
        torch.testing.assert_close(found[name], x, atol=tolerance, rtol=tolerance, msg=lambda m, name=name: name + m)


@pytest.mark.parametrize("task", TASKS)
def test_a_batch_gives_what_its_samples_give_one_by_one(task):
    reasoner, batch = made(task).eval(), data(task)
    with torch.no_grad():
        together = predict(reasoner, batch, hints=True)
        for b in range(batch.size):
            alone = predict(reasoner, batch.part(slice(b, b + 1)), hints=True)
            for name, logits in alone.outputs.items():
                whole = together.outputs[name]
                for x, y in zip(logits, whole, strict=True) if isinstance(logits, Ring) else [(logits, whole)]:
                    torch.testing.assert_close(x[0], y[b], atol=1e-4, rtol=1e-4)
            for name, logits in alone.hints.items():
                own = together.hints[name][: len(logits), b]
                torch.testing.assert_close(logits[:, 0], own, atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize("aggregator", [LSTM, Max, GRU, Sum])
@pytest.mark.parametrize("along_edges", [False, True])
@pytest.mark.parametrize("least", [1, 1 << 30], ids=["maps of nodes too", "pairs"])
def test_gradients_in_bfloat16_are_near_those_in_float32_and_a_network_is_tried_in_float32(
    aggregator, along_edges, least, monkeypatch
):
    monkeypatch.setattr("rnar.nn.linear.WORTH_ROUNDING", least)
    reasoner, batch, found = made("quickselect", aggregator=aggregator, size=16).train(), data("quickselect"), []
    reasoner.processor.uses_adjacency = along_edges
    outputs = []
    for precision in ("float32", "bfloat16"):
        reasoner.precision = precision
        reasoner.zero_grad()
        backward(reasoner.train(), batch)
        found.append(torch.cat([gradient.flatten() for gradient in gradients(reasoner).values()]))
        assert all(p.dtype == p.grad.dtype == torch.float32 for p in reasoner.parameters() if p.grad is not None)
        with torch.no_grad():
            outputs.append(predict(reasoner.eval(), batch).outputs["median"])
    assert 1e-5 < (found[1] - found[0]).norm() / found[0].norm() < 0.03
    assert torch.equal(*outputs)


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize(
    "feeding, memory",
    [
        (Feeding(), 0),
        (Feeding(), 300_000),  # for some of the steps
        (Feeding(), 1 << 30),
        (Feeding(teacher=0.5), 0),
        (Feeding(teacher=0.5), 300_000),
        (Feeding(mode="decoded"), 0),
        (Feeding(mode="none"), 1 << 30),
    ],
    ids=str,
)
def test_the_backward_pass_gives_autograds_gradients_whatever_it_keeps(task, feeding, memory):
    reasoner, batch = made(task, feeding=feeding).double(), data(task, batch=3, n=5)
    total_loss(losses(reasoner, batch, seed=1)).backward()
    expected = gradients(reasoner)
    reasoner.zero_grad()
    backward(reasoner, batch, seed=1, memory=memory)
    found = gradients(reasoner)
    assert_same(found, {name: expected[name] for name in found}, 1e-7)
    assert all(not expected[name].any() for name in expected.keys() - found.keys())


def test_gradients_flow_through_hints_that_are_fed_back_softly_and_not_through_decisions():
    """What the pointer decoder says at one step is read at the next, if hints are fed back as they are."""
    batch = data("bfs", n=6)
    found = {}
    for hard in (False, True):
        reasoner = made("bfs", feeding=Feeding(hard=hard)).double()
        outputs_only = losses(reasoner, batch)["pi"].total
        outputs_only.backward()
        decoder = reasoner.heads_of("bfs").decode_hints.each["reach_h"].of_nodes[0]
        found[hard] = 0.0 if decoder.weight.grad is None else decoder.weight.grad.abs().sum().item()
    assert found[False] > 0 and found[True] == 0


def test_the_gradient_of_a_whole_run_agrees_with_finite_differences():
    reasoner, batch = made("insertion_sort", size=4).double().eval(), data("insertion_sort", batch=2, n=3)
    total_loss(losses(reasoner, batch)).backward()
    for parameter in (reasoner.processor.aggregator.from_state, reasoner.processor.to_edge.weight):
        direction = torch.randn(parameter.shape, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
        sides = []
        for sign in (1, -1):
            with torch.no_grad():
                parameter += sign * 1e-6 * direction
                sides.append(total_loss(losses(reasoner, batch)).item())
                parameter -= sign * 1e-6 * direction
        assert (sides[0] - sides[1]) / 2e-6 == pytest.approx((parameter.grad * direction).sum().item(), rel=1e-4)


def test_teacher_forcing_with_certainty_feeds_the_truth():
    """Then the hints of a step do not depend on what was predicted before: on no decoder."""
    reasoner, batch = made("bfs", feeding=Feeding(teacher=1.0)), data("bfs")
    before = {name: judged.total.item() for name, judged in losses(reasoner, batch).items()}
    with torch.no_grad():
        reasoner.heads_of("bfs").decode_hints.each["reach_h"].of_nodes[0].bias += 3.0
    after = {name: judged.total.item() for name, judged in losses(reasoner, batch).items()}
    assert before["pi"] == after["pi"] and before["pi_h"] == after["pi_h"] and before["reach_h"] != after["reach_h"]


def test_without_hints_there_are_neither_their_encoders_nor_their_losses():
    reasoner, batch = made("bfs", feeding=Feeding(mode="none")), data("bfs")
    assert losses(reasoner, batch).keys() == {"pi"}
    assert not list(reasoner.heads_of("bfs").hints.parameters())
    assert predict(reasoner, batch, hints=True).hints == {}


@pytest.mark.parametrize("task", TASKS)
def test_counts_are_what_losses_are_divided_by(task):
    reasoner, batch = made(task), data(task)
    expected = counts(reasoner, batch)
    assert expected.keys() == losses(reasoner, batch).keys()
    for name, judged in losses(reasoner, batch).items():
        assert expected[name] == judged.count, name


@pytest.mark.parametrize("threads", [1, 2, 3])
@pytest.mark.parametrize("task", ["quickselect", "heapsort"])
def test_any_number_of_workers_gives_the_gradients_of_one_pass(task, threads):
    reasoner, batch = made(task).double(), data(task, batch=5)
    expected_losses = backward(reasoner, batch, seed=2)
    expected = gradients(reasoner)
    found_losses = Workers(reasoner, threads).backward(batch, seed=2)
    assert_same(gradients(reasoner), expected, 1e-9)
    for name, judged in expected_losses.items():
        assert found_losses[name] == pytest.approx((judged.total / judged.count).item(), rel=1e-9)


def test_the_same_seed_gives_the_same_numbers_bit_by_bit():
    batch, found = data("heapsort", batch=6), []
    for _ in range(2):
        reasoner = made("heapsort")
        Workers(reasoner, 2).backward(batch, seed=4)
        found.append(gradients(reasoner))
    assert all(torch.equal(x, found[1][name]) for name, x in found[0].items())


def test_several_tasks_share_a_processor_and_nothing_else():
    reasoner = made("bfs", "quickselect")
    backward(reasoner, data("bfs"))
    touched = gradients(reasoner)
    assert any(name.startswith("processor.") for name in touched)
    assert any(name.startswith("heads.bfs.") for name in touched)
    assert not any(name.startswith("heads.quickselect.") for name in touched)


@pytest.mark.parametrize("aggregator", [Max, LSTM])
def test_it_learns(aggregator):
    """A few steps on one small batch: the loss falls by half."""
    reasoner, batch = made("minimum", aggregator=aggregator, size=32), data("minimum", batch=16, n=4)
    optimiser = torch.optim.Adam(reasoner.parameters(), 3e-3)
    seen = []
    for step in range(40):
        optimiser.zero_grad()
        judged = backward(reasoner, batch, seed=step)
        torch.nn.utils.clip_grad_norm_(reasoner.parameters(), 1.0)
        optimiser.step()
        seen.append(total_loss(judged).item())
    assert seen[-1] < seen[0] / 2
    with torch.no_grad():
        reasoner.eval()
        assert scores(find("minimum").spec, predict(reasoner, batch).outputs, batch.outputs)["score"] > 0.5


def test_a_batch_of_another_task_is_refused():
    with pytest.raises(ValueError, match="has not learned bfs; it knows quickselect"):
        predict(made("quickselect"), data("bfs"))


def test_a_batch_without_a_feature_is_refused():
    model = find_model("rnar")
    reasoner = model.build("quickselect", size=SIZE)
    with pytest.raises(ValueError, match="has no hint 'pred_h_reversed', which the network expects"):
        predict(reasoner, data("quickselect"))
    assert predict(reasoner, model.batch(data("quickselect"))).outputs["median"].shape == (5, 6)


class Saved:
    """How many numbers autograd keeps alive at most; what several keep is counted once."""

    def __init__(self):
        self.alive, self.most = Counter(), 0

    def measure(self, work):
        saved = self

        class Held:
            def __init__(self, tensor):
                self.tensor = tensor
                self.memory = tensor.untyped_storage().data_ptr(), tensor.untyped_storage().nbytes() // 4
                saved.alive[self.memory] += 1
                saved.most = max(saved.most, sum(numbers for _, numbers in saved.alive))

            def __del__(self):
                saved.alive[self.memory] -= 1
                if not saved.alive[self.memory]:
                    del saved.alive[self.memory]

        with torch.autograd.graph.saved_tensors_hooks(Held, lambda held: held.tensor):
            work()
        return self.most


def test_memory_does_not_grow_with_the_number_of_steps():
    """What a backward pass keeps for autograd is that of one step, however many there are; plain autograd keeps all."""
    reasoner, batch = made("bubble_sort"), data("bubble_sort", batch=2, n=7)  # 22 steps
    short = batch._replace(lengths=batch.lengths // 4).part(slice(0, 2))
    ours = [Saved().measure(lambda b=b: backward(reasoner, b)) for b in (short, batch)]
    plain = [Saved().measure(lambda b=b: total_loss(losses(reasoner, b)).backward()) for b in (short, batch)]
    assert plain[1] > 3 * plain[0]
    assert ours[1] < 1.5 * ours[0]


def test_memory_that_may_be_spent_is_spent_and_no_more():
    """`memory` bounds what is kept of all steps beside the one that is at work."""
    reasoner, batch = made("bubble_sort"), data("bubble_sort", batch=2, n=7)
    one, everything = (4 * Saved().measure(lambda m=m: backward(reasoner, batch, memory=m)) for m in (0, 1 << 30))
    some = 4 * Saved().measure(lambda: backward(reasoner, batch, memory=everything // 3))
    assert one < everything / 4
    assert everything / 5 < some < everything / 3 + 2 * one


def test_the_weights_can_be_saved_with_safetensors(tmp_path):
    from safetensors.torch import load_file, save_file

    reasoner = made("heapsort", "floyd_warshall")
    save_file(reasoner.state_dict(), tmp_path / "weights.safetensors")
    other = made("heapsort", "floyd_warshall", seed=1)
    other.load_state_dict(load_file(tmp_path / "weights.safetensors"))
    assert all(torch.equal(x, y) for x, y in zip(reasoner.parameters(), other.parameters(), strict=True))


def test_workers_know_how_far_the_training_is():
    reasoner = find_model("g-forgetnet").build("bfs", size=SIZE)
    workers, batch = Workers(reasoner, 2), data("bfs")
    found = {}
    for fraction in (0.0, 0.5, 1.0):
        found[fraction] = workers.backward(batch, progress=fraction)["penalty"]
    assert found[0.0] == pytest.approx(0, abs=1e-6) and found[0.5] < found[1.0]
    judged = losses(reasoner, batch)["penalty"]
    assert found[1.0] == pytest.approx((judged.total / judged.count).item(), rel=1e-4)


class Rewarded(MessagePassing):
    """With two losses of its own: the size of its states, and a constant."""

    losses = ("size", "three")

    def forward(self, graph, state, rng=None):
        step = super().forward(graph, state, rng)
        size = step.state[0].square().mean(dim=(1, 2))
        return step._replace(losses={"size": size, "three": torch.full_like(size, 3.0)})


def rewarded() -> Reasoner:
    torch.manual_seed(0)
    return Reasoner({"bfs": find("bfs").spec}, Rewarded(SIZE, Max(SIZE)))


def test_a_processor_may_have_losses_of_its_own():
    """Each is a mean over all steps of all samples, and the network learns from it."""
    reasoner, batch = rewarded(), data("bfs")
    found = Workers(reasoner, 2).backward(batch)
    assert found["three"] == pytest.approx(3.0) and found["size"] > 0
    with_them = gradients(reasoner)
    reasoner.zero_grad()
    judged = losses(reasoner, batch)
    assert judged["size"].count == sum(max(1, length - 1) for length in batch.lengths)
    total_loss(judged).backward()
    assert_same(with_them, gradients(reasoner), 1e-4)


def test_losses_that_were_not_declared_are_refused():
    reasoner = rewarded()
    reasoner.processor.losses = ("size",)
    with pytest.raises(ValueError, match="Rewarded says that its losses are .'size'., and returned .'size', 'three'."):
        predict(reasoner, data("bfs"))


def test_a_processor_that_prepares_nothing_computes_the_same():
    batch, found = data("bfs"), []
    for prepare in (True, False):
        reasoner = made("bfs")
        if not prepare:
            of_one_step = reasoner.processor.forward
            reasoner.processor.forward = lambda graph, *rest, f=of_one_step: f(graph._replace(prepared=None), *rest)
        backward(reasoner, batch)
        found.append(gradients(reasoner))
    assert_same(*found, 1e-5)


class Encoded(MessagePassing):
    """Gets features of nodes, as processors do that do not read channels."""

    reads_channels = False


@pytest.mark.parametrize("task", ["quickselect", "heapsort", "floyd_warshall", "kmp_matcher", "segments_intersect"])
def test_channels_of_nodes_give_what_their_features_give(task):
    """Heapsort and the string matcher have decoders of the whole graph, which want a maximum over features."""
    batch, logits, found = data(task), [], []
    for kind in (MessagePassing, Encoded):
        torch.manual_seed(0)
        processor = kind(SIZE, LSTM(SIZE), triplets=8, gate=True)
        reasoner = Reasoner({task: find(task).spec}, processor).double()
        prepared = reasoner.prepare(task, *inputs_of(batch))
        assert (prepared.encoding is None) == (kind is Encoded)
        logits.append(predict(reasoner, batch, hints=True).hints)
        backward(reasoner, batch)
        found.append(gradients(reasoner))
    assert_same(*logits, 1e-9)
    assert_same(*found, 1e-9)


def inputs_of(batch) -> tuple[dict[str, torch.Tensor], int]:
    return {name: torch.as_tensor(x) for name, x in batch.inputs.items()}, batch.nodes


def test_in_a_lower_precision_nodes_are_encoded_first():
    """Two keys that differ by little would be the same channel in bfloat16."""
    reasoner, given = made("minimum").train(), inputs_of(data("minimum"))
    assert reasoner.prepare("minimum", *given).encoding is not None
    reasoner.precision = "bfloat16"
    assert reasoner.prepare("minimum", *given).encoding is None


def test_a_training_stream_can_be_learned_from():
    model = find_model("rnar")
    reasoner = model.build("kmp_matcher", size=SIZE)
    with Stream("kmp_matcher", batch=2, transform=model.batch) as stream:
        losses = Workers(reasoner, 2).backward(next(stream))
    assert all(value == value for value in losses.values())
