"""Training: what it leaves in a run's folder, and that it is right."""

from __future__ import annotations

import sys
import threading
from dataclasses import replace
from pathlib import Path
from signal import SIGINT, raise_signal

import numpy as np
import pytest
import torch

import rnar
from helpers.scoring import scores
from helpers.training import contents, small_test, tiny
from rnar.clrs import official
from rnar.evaluation.evaluate import evaluate
from rnar.models import Model, find, message_passing
from rnar.nn.aggregators import Max
from rnar.runtime import backward
from rnar.runtime.workers import Workers
from rnar.training import Callback, Run, train
from rnar.training import files as training_files
from rnar.training.data import selection_set, training_data, validation_set
from rnar.training.learner import Learner
from rnar.training.result import Candidate, Result


def test_the_reported_score_is_that_of_the_best_network_on_the_official_set(finished):
    run, result = finished
    batch = run.model.batch(official("bfs", "test"))
    again = evaluate(Workers(run.network(), 1), batch)
    assert (result.score, result.tests["bfs"].outputs) == (again.score, again.outputs)
    with torch.no_grad():
        expected = scores(run.model.spec("bfs"), run.network().eval()(batch).outputs, batch.outputs)
    few = 4 / (32 * 64)  # pointers that may hang on the last bit of a logit
    assert {**again.outputs, "score": again.score} == pytest.approx(expected, abs=few)
    low, high = result.tests["bfs"].interval
    assert low <= result.score <= high and low < high
    assert result.tests["bfs"].samples == 32


def test_fewer_samples_to_test_on_are_the_first_of_the_official_ones(small, tmp_path):
    result = train(tiny(tmp_path / "run", test_samples=2))
    run = Run(tmp_path / "run")
    expected = evaluate(Workers(run.network(), 1), run.model.batch(small_test("bfs", "test").part(slice(2))))
    assert (result.tests["bfs"].samples, result.score) == (2, pytest.approx(expected.score))


def test_the_best_network_is_the_one_that_did_best_on_more_samples_than_in_validation(finished):
    run, result = finished
    validations = {line["step"]: line["validation"] for line in run.metrics}
    assert list(validations) == [0, 2, 4, 6]
    assert {each.step: each.validation for each in result.candidates} == validations
    assert result.best_step == max(result.candidates, key=lambda each: (each.score, each.step)).step
    assert result.validation == validations[result.best_step]
    for samples, expected in ((validation_set, result.validation), (selection_set, best_of(result).score)):
        assert evaluate(Workers(run.network(), 1), samples(run.settings, "bfs")).score == expected


def best_of(result: Result) -> Candidate:
    (found,) = [each for each in result.candidates if each.step == result.best_step]
    return found


def test_the_folder_says_all_about_the_run(finished):
    run, result = finished
    assert sorted(p.name for p in run.path.iterdir() if p.name[0] != ".") == [
        "best.safetensors", "config.json", "metrics.jsonl", "result.json", "state.safetensors", "tests.json"
    ]  # fmt: skip
    assert run.settings == replace(tiny(run.path).resolved(), threads=None, ood_samples=32)
    (environment,) = run.config["environments"]
    assert environment["torch"] == torch.__version__ and environment["threads"] == 1
    assert run.config["data"]["bfs"]["sizes"] == [4, 5]
    assert run.result == result
    assert result.parameters == sum(p.numel() for p in run.network().parameters())
    assert result.steps == 6 and result.seconds > 0 and result.memory_mb > 10


def test_the_metrics_are_the_means_since_the_line_before(small, tmp_path):
    class Losses(Callback):
        found: list[float] = []

        def stepped(self, step: int, loss: float) -> None:
            self.found.append(loss)

    train(tiny(tmp_path / "run"), Losses())
    first, *lines = Run(tmp_path / "run").metrics
    pairs = np.array(Losses.found).reshape(3, 2).mean(axis=1)
    assert first["loss"] is None and first["losses"] == {}
    assert [line["loss"] for line in lines] == pytest.approx(pairs.tolist())
    assert [sum(line["losses"]["bfs"].values()) for line in lines] == pytest.approx(pairs.tolist())
    assert lines[0]["losses"]["bfs"].keys() == {"pi", "reach_h", "pi_h", "pi_h_reversed"}


def test_a_step_is_adams_on_clipped_gradients_of_the_next_batch(small, tmp_path):
    """Written out once more, with PyTorch's own unfused optimiser.

    Adam's moments are compared everywhere. The weights are where gradients are more than rounding errors, which Adam
    blows up to steps of full length: the bias of a pointer's logits changes nothing, for example.
    """
    settings = tiny(tmp_path / "run", steps=2, clip=0.1, learning_rate=0.01).resolved()
    train(settings)
    reasoner = settings.architecture.build("bfs", 8, seed=0).train()
    optimiser = torch.optim.Adam(reasoner.parameters(), 0.01, foreach=False)
    with training_data(settings, "bfs") as stream:
        for _ in range(2):
            reasoner.zero_grad()
            backward(reasoner, next(stream))
            torch.nn.utils.clip_grad_norm_(reasoner.parameters(), 0.1)
            optimiser.step()
    state, _ = training_files.unpack((tmp_path / "run" / "state.safetensors").read_bytes(), Path("state"))
    meant = 0
    for name, parameter in reasoner.named_parameters():
        kept = optimiser.state[parameter]
        for moment in ("exp_avg", "exp_avg_sq"):
            torch.testing.assert_close(state[f"adam/{moment}/{name}"], kept[moment], rtol=1e-3, atol=1e-7)
        real = kept["exp_avg_sq"].sqrt() > 1e-6  # of gradients whose norm is 0.1
        meant += int(real.sum())
        torch.testing.assert_close(state[f"weights/{name}"][real], parameter.detach()[real], rtol=1e-3, atol=1e-4)
    assert meant > 0.5 * sum(p.numel() for p in reasoner.parameters())


def test_a_generalist_learns_validates_and_is_tested_on_each_task(small, tmp_path):
    tasks = ("bfs", "minimum")
    result = train(tiny(tmp_path / "run", tasks=tasks))
    run = Run(tmp_path / "run")
    assert result.tests.keys() == set(tasks)
    assert result.score == pytest.approx(np.mean([test.score for test in result.tests.values()]))
    for line in run.metrics[1:]:
        assert line["losses"].keys() == line["validations"].keys() == set(tasks)
        assert line["validation"] == pytest.approx(np.mean(list(line["validations"].values())))
    state, notes = training_files.unpack((run.path / "state.safetensors").read_bytes(), run.path)
    updates = {name: int(tensor) for name, tensor in state.items() if name.startswith("adam/step/")}
    assert {n for name, n in updates.items() if ".processor." not in f".{name[10:]}"} == {6}
    assert max(updates.values()) == 12  # the processor learns from both
    assert [notes["streams"][task]["next"] for task in tasks] == [6, 6]


def test_the_penalty_of_g_forgetnet_grows_with_training(small, tmp_path, monkeypatch):
    told = []
    processor = type(find("g-forgetnet").processor(8))
    monkeypatch.setattr(processor, "progress", lambda self, fraction: told.append(fraction))
    train(tiny(tmp_path / "run", model="g-forgetnet", steps=4))
    assert told == [0.0, 0.25, 0.5, 0.75]


def test_a_model_of_yours_is_trained_as_it_is(small, tmp_path):
    mine = Model("mine", message_passing(Max), size=8)
    result = train(tiny(tmp_path / "run", model=mine, size=None))
    assert Run(tmp_path / "run", mine).network().processor.size == 8
    assert train(tiny(tmp_path / "run", model=mine)) == result
    with pytest.raises(ValueError, match="no model 'mine' here"):
        Run(tmp_path / "run")


def test_random_networks_learn_the_same_from_the_same_seed_only(small, tmp_path):
    runs = [("a", 0), ("b", 0), ("c", 1)]
    for name, seed in runs:
        train(tiny(tmp_path / name, seed=seed, model="rnar-janossy-1"))
    a, b, c = (contents(tmp_path / name) for name, _ in runs)
    assert a == b
    assert a["state"] != c["state"]


def test_gradients_that_are_no_numbers_end_training_before_the_weights_are_spoiled(small, tmp_path):
    with pytest.raises(ValueError, match="diverged at step [1-9].* the best network so far, of step 0, is in"):
        train(tiny(tmp_path / "run", learning_rate=1e30, steps=20))
    state, _ = training_files.unpack((tmp_path / "run" / "state.safetensors").read_bytes(), tmp_path)
    assert all(torch.isfinite(tensor).all() for tensor in state.values())


def test_training_in_a_thread_leaves_signals_alone(small, tmp_path):
    found = []
    thread = threading.Thread(target=lambda: found.append(train(tiny(tmp_path / "run"))))
    thread.start()
    thread.join()
    assert found[0].steps == 6


def test_without_tensorboard_that_is_said(small, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard.writer", None)
    with pytest.raises(ValueError, match=r"TensorBoard is not installed here; pip install 'rnar\[tensorboard\]'"):
        train(tiny(tmp_path / "run", tensorboard=True))
    assert not (tmp_path / "run").exists()


def test_events_for_tensorboard_are_the_metrics(small, tmp_path):
    pytest.importorskip("tensorboard")
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    train(tiny(tmp_path / "run", tensorboard=True))
    events = EventAccumulator(str(tmp_path / "run" / "tensorboard")).Reload()
    metrics = Run(tmp_path / "run").metrics
    for name in ("validation", "best", "loss"):
        found = {event.step: event.value for event in events.Scalars(name)}
        assert found == pytest.approx({line["step"]: line[name] for line in metrics if line[name] is not None})


def test_the_python_way_of_the_readme(small, tmp_path):
    result, run = train(tiny(tmp_path / "run", model=find("mpnn"))), Run(tmp_path / "run")
    assert run.model is find("mpnn") and run.result == result


def test_a_run_ends_when_validation_has_not_become_better_for_too_long(small, tmp_path, monkeypatch):
    """Ties are not better. With more patience it goes on from there, as if it had had it from the start."""
    monkeypatch.setattr(Learner, "_scores", lambda self, sets: dict.fromkeys(sets, min(self.step, 4) / 100))
    settings = tiny(tmp_path / "run", steps=20, patience=4)
    result = train(settings)
    assert result.early and result.steps == 8
    assert Run(tmp_path / "run").result == train(settings) == train(replace(settings, steps=40)) == result
    further = train(replace(settings, patience=8))
    assert further.early and further.steps == 12 and (tmp_path / "run" / "result-8.json").exists()
    train(replace(settings, patience=8, folder=tmp_path / "other"))
    assert contents(tmp_path / "run") == contents(tmp_path / "other")
    whole = train(replace(settings, patience=None))
    assert not whole.early and whole.steps == 20


def test_patience_ends_a_run_at_a_validation_also_if_it_was_stopped_before(small, tmp_path, monkeypatch):
    class Impatient(Callback):
        def stepped(self, step: int, loss: float) -> None:
            if step == 5:
                raise_signal(SIGINT)

    monkeypatch.setattr(Learner, "_scores", lambda self, sets: dict.fromkeys(sets, min(self.step, 2) / 100))
    whole, parts = (tiny(tmp_path / name, steps=20, patience=3) for name in ("whole", "parts"))
    assert train(whole).steps == 6
    with pytest.raises(KeyboardInterrupt):
        train(parts, Impatient())
    assert train(parts).steps == 6 and contents(whole.path) == contents(parts.path)


def test_a_run_begins_with_the_weights_of_another_as_far_as_they_fit(small, tmp_path):
    class First(Callback):
        def began(self, beginning) -> None:
            self.start = beginning.start

    train(tiny(tmp_path / "one"))
    watch, network = First(), Run(tmp_path / "one").network()
    train(tiny(tmp_path / "two", steps=2, learning_rate=1e-9, start=tmp_path / "one"), watch)
    for name, tensor in Run(tmp_path / "two").network(which="last").state_dict().items():
        assert torch.allclose(tensor, network.state_dict()[name], atol=1e-6), name
    assert watch.start.startswith("begins with") and watch.start.endswith(f"weights of {tmp_path / 'one'}")
    train(tiny(tmp_path / "three", tasks=("dfs",), steps=2, learning_rate=1e-9, start=tmp_path / "one"), watch)
    found = Run(tmp_path / "three").network(which="last").state_dict()
    assert all(
        torch.allclose(found[f"processor.{name}"], x, atol=1e-6) for name, x in network.processor.state_dict().items()
    )
    with pytest.raises(ValueError, match="the processor in .*one does not fit: processor"):
        train(tiny(tmp_path / "four", size=9, start=tmp_path / "one"))


def test_progress_is_shown_unless_it_shall_be_quiet(small, tmp_path, capsys):
    train(tiny(tmp_path / "quiet"), quiet=True)
    out, err = capsys.readouterr()  # where it may tell that it compiles
    assert out == "" and "step" not in err and "testing" not in err
    train(tiny(tmp_path / "loud"))
    out, err = capsys.readouterr()
    assert out == "" and "step 6 of 6" in err and "testing the selected network" in err


def test_the_name_that_callbacks_had_before_goes_on_working(small, tmp_path, capsys):
    with pytest.warns(DeprecationWarning, match="rnar.Callback now"):
        from rnar.training import Watch
    assert Watch is rnar.Callback
    told = []

    class Losses(rnar.Callback):
        def stepped(self, step, loss):
            told.append(step)

    with pytest.warns(DeprecationWarning, match="callback now"):
        train(tiny(tmp_path / "run"), watch=Losses())
    assert told == [1, 2, 3, 4, 5, 6] and "step 6 of 6" in capsys.readouterr().err
