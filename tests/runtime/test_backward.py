"""The reasoner as a whole: batches, gradients, feeding, memory of steps, several tasks, several cores."""

import sys
from collections import Counter
from dataclasses import replace

import pytest
import torch

import rnar.clrs
from helpers.scoring import scores
from rnar.clrs import Stream, find
from rnar.models import find as find_model
from rnar.nn.aggregators import GRU, LSTM, Max, Sum
from rnar.nn.auxiliary import auxiliary_loss
from rnar.nn.heads import HintConfig
from rnar.nn.kinds import PermutationLogits
from rnar.nn.losses import STEPS, counts, total_loss
from rnar.nn.processors.message_passing import MessagePassing
from rnar.nn.reasoner import Reasoner
from rnar.runtime import Workers, backward
from rnar.runtime.workers import autocast

SIZE = 8
TASKS = ["quickselect", "heapsort", "bfs", "floyd_warshall", "lcs_length", "segments_intersect", "bridges"]


def made(*tasks, hints=None, aggregator=LSTM, seed=0, size=SIZE) -> Reasoner:
    torch.manual_seed(seed)
    processor = MessagePassing(size, aggregator(size), triplets=8, gate=True)
    return Reasoner({task: find(task).spec for task in tasks}, processor, hints)


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
        together = reasoner(batch)
        for b in range(batch.size):
            alone = reasoner(batch.part(slice(b, b + 1)))
            for name, logits in alone.outputs.items():
                whole = together.outputs[name]
                for x, y in (
                    zip(logits, whole, strict=True) if isinstance(logits, PermutationLogits) else [(logits, whole)]
                ):
                    torch.testing.assert_close(x[0], y[b], atol=1e-4, rtol=1e-4)
            for name, logits in alone.hints.items():
                own = together.hints[name][: len(logits), b]
                torch.testing.assert_close(logits[:, 0], own, atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize("aggregator", [LSTM, Max, GRU, Sum])
@pytest.mark.parametrize("along_edges", [False, True])
@pytest.mark.parametrize("least", [1, 1 << 30], ids=["maps of nodes too", "edges"])
def test_gradients_in_bfloat16_are_near_those_in_float32(aggregator, along_edges, least, monkeypatch):
    monkeypatch.setattr(sys.modules["rnar.functional.affine"], "WORTH_ROUNDING", least)
    reasoner, batch, found = made("quickselect", aggregator=aggregator, size=16).train(), data("quickselect"), []
    reasoner.processor.along_edges = along_edges
    for precision in ("float32", "bfloat16"):
        reasoner.zero_grad()
        with autocast(reasoner, precision):
            backward(reasoner, batch)
        found.append(torch.cat([gradient.flatten() for gradient in gradients(reasoner).values()]))
        assert all(p.dtype == p.grad.dtype == torch.float32 for p in reasoner.parameters() if p.grad is not None)
    assert 1e-5 < (found[1] - found[0]).norm() / found[0].norm() < 0.03


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize(
    "hints, memory",
    [
        (HintConfig(), 0),
        (HintConfig(), 300_000),  # for some of the steps
        (HintConfig(), 1 << 30),
        (HintConfig(teacher=0.5), 0),
        (HintConfig(teacher=0.5), 300_000),
        (HintConfig(mode="decoded"), 0),
        (HintConfig(mode="none"), 1 << 30),
    ],
    ids=str,
)
def test_the_backward_pass_gives_autograds_gradients_whatever_it_keeps(task, hints, memory):
    reasoner, batch = made(task, hints=hints).double(), data(task, batch=3, n=5)
    total_loss(reasoner(batch, 1).losses).backward()
    expected = gradients(reasoner)
    reasoner.zero_grad()
    backward(reasoner, batch, seed=1, memory=memory)
    found = gradients(reasoner)
    assert_same(found, {name: expected[name] for name in found}, 1e-7)
    assert expected.keys() == found.keys()


def test_gradients_flow_through_hints_that_are_fed_back_softly_and_not_through_decisions():
    """What the pointer decoder says at one step is read at the next, if hints are fed back as they are."""
    batch = data("bfs", n=6)
    found = {}
    for hard in (False, True):
        reasoner = made("bfs", hints=HintConfig(hard=hard)).double()
        outputs_only = reasoner(batch).losses["pi"].total
        outputs_only.backward()
        decoder = reasoner.heads_of("bfs").decode_hints.each["reach_h"].of_nodes[0]
        found[hard] = 0.0 if decoder.weight.grad is None else decoder.weight.grad.abs().sum().item()
    assert found[False] > 0 and found[True] == 0


def test_the_gradient_of_a_whole_run_agrees_with_finite_differences():
    reasoner, batch = made("insertion_sort", size=4).double().eval(), data("insertion_sort", batch=2, n=3)
    total_loss(reasoner(batch).losses).backward()
    for parameter in (reasoner.processor.aggregator.from_state, reasoner.processor.to_edge.weight):
        direction = torch.randn(parameter.shape, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
        sides = []
        for sign in (1, -1):
            with torch.no_grad():
                parameter += sign * 1e-6 * direction
                sides.append(total_loss(reasoner(batch).losses).item())
                parameter -= sign * 1e-6 * direction
        assert (sides[0] - sides[1]) / 2e-6 == pytest.approx((parameter.grad * direction).sum().item(), rel=1e-4)


def test_teacher_forcing_with_certainty_feeds_the_truth():
    """Then the hints of a step do not depend on what was predicted before: on no decoder."""
    reasoner, batch = made("bfs", hints=HintConfig(teacher=1.0)), data("bfs")
    before = {name: judged.total.item() for name, judged in reasoner(batch).losses.items()}
    with torch.no_grad():
        reasoner.heads_of("bfs").decode_hints.each["reach_h"].of_nodes[0].bias += 3.0
    after = {name: judged.total.item() for name, judged in reasoner(batch).losses.items()}
    assert before["pi"] == after["pi"] and before["pi_h"] == after["pi_h"] and before["reach_h"] != after["reach_h"]


def test_without_hints_there_are_neither_their_encoders_nor_their_losses():
    reasoner, batch = made("bfs", hints=HintConfig(mode="none")), data("bfs")
    assert reasoner(batch).losses.keys() == {"pi"}
    assert not list(reasoner.heads_of("bfs").hints.parameters())
    assert reasoner(batch).hints == {}


@pytest.mark.parametrize("task", TASKS)
def test_counts_are_what_losses_are_divided_by(task):
    reasoner, batch = made(task), data(task)
    expected = counts(reasoner.heads_of(task), batch)
    assert expected.keys() - {STEPS} == reasoner(batch).losses.keys()
    for name, judged in reasoner(batch).losses.items():
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
        assert scores(find("minimum").spec, reasoner(batch).outputs, batch.outputs)["score"] > 0.5


def test_a_batch_of_another_task_is_refused():
    with pytest.raises(ValueError, match="has not learned bfs; it knows quickselect"):
        made("quickselect")(data("bfs"))


def test_a_batch_without_a_feature_is_refused():
    model = find_model("rnar")
    reasoner = model.build("quickselect", size=SIZE)
    with pytest.raises(ValueError, match="has no hint 'pred_h_reversed', which the network expects"):
        reasoner(data("quickselect"))
    assert reasoner(model.batch(data("quickselect"))).outputs["median"].shape == (5, 6)


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


def test_with_no_budget_little_is_kept_of_a_step():
    """What its logits need, and where the next one starts; plain autograd keeps all."""
    reasoner, batch = made("bubble_sort"), data("bubble_sort", batch=2, n=7)  # 22 steps
    short = replace(batch, lengths=batch.lengths // 4).part(slice(0, 2))
    ours = [Saved().measure(lambda b=b: backward(reasoner, b, memory=0)) for b in (short, batch)]
    plain = [Saved().measure(lambda b=b: total_loss(reasoner(b).losses).backward()) for b in (short, batch)]
    assert plain[1] > 3 * plain[0]
    assert ours[1] - ours[0] < (plain[1] - plain[0]) / 20


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
    judged = reasoner(batch).losses["penalty"]
    assert found[1.0] == pytest.approx((judged.total / judged.count).item(), rel=1e-4)


class Rewarded(MessagePassing):
    """With two losses of its own: the size of its states, and a constant."""

    def forward(self, graph, state=None):
        output = super().forward(graph, state)
        size = output.state.square().mean(dim=(1, 2))
        auxiliary_loss("size", size)
        auxiliary_loss("three", torch.full_like(size, 3.0))
        return output


def test_a_processor_may_have_losses_of_its_own():
    """Each is a mean over all steps of all samples, and the network learns from it."""
    torch.manual_seed(0)
    reasoner, batch = Reasoner({"bfs": find("bfs").spec}, Rewarded(SIZE, Max(SIZE))), data("bfs")
    found = Workers(reasoner, 2).backward(batch)
    assert found["three"] == pytest.approx(3.0) and found["size"] > 0
    with_them = gradients(reasoner)
    reasoner.zero_grad()
    losses = reasoner(batch).losses
    assert losses["size"].count == sum(max(1, length - 1) for length in batch.lengths)
    total_loss(losses).backward()
    assert_same(with_them, gradients(reasoner), 1e-4)


class Computed(MessagePassing):
    """Is given features that are computed, as processors of users see them."""

    def forward(self, graph, state=None):
        return super().forward(graph.replace(nodes=graph.nodes, edges=graph.edges), state)


@pytest.mark.parametrize("task", ["quickselect", "heapsort", "floyd_warshall", "kmp_matcher", "segments_intersect"])
def test_lazy_features_give_what_computed_ones_give(task):
    """Heapsort and the string matcher have decoders of the whole graph, which want a maximum over features."""
    batch, logits, found = data(task), [], []
    for kind in (MessagePassing, Computed):
        torch.manual_seed(0)
        processor = kind(SIZE, LSTM(SIZE), triplets=8, gate=True)
        reasoner = Reasoner({task: find(task).spec}, processor).double()
        logits.append(reasoner(batch).hints)
        backward(reasoner, batch)
        found.append(gradients(reasoner))
    assert_same(*logits, 1e-9)
    assert_same(*found, 1e-9)


def test_a_training_stream_can_be_learned_from():
    model = find_model("rnar")
    reasoner = model.build("kmp_matcher", size=SIZE)
    with Stream("kmp_matcher", batch=2, transform=model.batch) as stream:
        losses = Workers(reasoner, 2).backward(next(stream))
    assert all(value == value for value in losses.values())
