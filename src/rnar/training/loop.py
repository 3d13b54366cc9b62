"""Training, from the settings to the result."""

import signal
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, nullcontext

import torch

from rnar.clrs import official
from rnar.evaluation.evaluate import evaluate
from rnar.training.environment import own_code, versions
from rnar.training.files import STATE
from rnar.training.folder import Folder, claimed, finished
from rnar.training.learner import Learner
from rnar.training.result import Result, Tested
from rnar.training.run import NETWORKS, Run, Which
from rnar.training.settings import Resolved, Settings
from rnar.training.stopping import Stop, stopping_politely
from rnar.training.team import Team, together
from rnar.training.watch import Beginning, TensorBoard, Watch, Watches


def train(settings: Settings | Resolved, watch: Watch | None = None) -> Result:
    """Train as the settings say, go on where their folder ends, or just tell the result that is in it.

    The result is the same as if nothing had come between: bit for bit on the same machine, on its CPU, with the same
    number of threads.
    """
    run = settings.resolved()
    with together(run) as team:
        known = team.share(finished(run) if team.first else None)
        return known or team.share(_train(run, team, watch or Watch()))


def _train(settings: Resolved, team: Team, watch: Watch) -> Result | None:
    """Of a team, only the first has a folder, onlookers, and a result."""
    watch = watch if team.first else Watch()
    if settings.tensorboard and team.first:
        watch = Watches(watch, TensorBoard())
    claim = claimed(settings) if team.first else nullcontext()
    with closing(Learner(settings, team)) as learner, closing(watch), claim as folder:
        fresh = not (settings.path / STATE).exists()
        start = learner.begin_with(Run(settings.start)) if settings.start and fresh else ""
        changes = _resume(learner, folder)
        about = learner.step, learner.parameters, str(team.device), team.threads * team.world
        watch.began(Beginning(settings, settings.path, *about, changes, start))
        with stopping_politely() as stop, _small_operations():
            ended = learn(learner, folder, watch, stop)
        if not ended:
            raise KeyboardInterrupt
        return _test(learner, folder, watch) if folder else None


def _resume(learner: Learner, folder: Folder | None) -> list[str]:
    """Bring learner and folder to where the run ended; what has changed in its environment since."""
    team = learner.team
    state = team.share(folder.state() if folder else None)
    if state is not None:
        learner.restore(state, learner.settings.path / STATE)
    if not folder:
        return []
    folder.resume(learner.step, learner.best)
    data = {task: {k: v for k, v in s.state.items() if k != "next"} for task, s in learner.streams.items()}
    computed_by = {"device": str(team.device), "threads": team.threads, "processes": team.world}
    environment = {"from_step": learner.step, **versions(), **computed_by}
    if code := own_code(learner.settings):
        environment["code"] = code
    return folder.begin(data, environment, learner.paced)


def learn(learner: Learner, folder: Folder | None, watch: Watch, stop: Stop) -> bool:
    """Step after step, to the end or until somebody asks to stop; whether it came to the end."""
    every, stopping, ended = learner.settings.validate_every, False, learner.ended
    if folder and learner.best is None:  # the network that has learned nothing is the first to beat
        _report(learner, folder, watch)
        folder.save(learner)
    while not (ended or stopping):
        loss, stopping = learner.learn(stop)
        watch.stepped(learner.step, loss)
        if folder and learner.step % every == 0:
            _report(learner, folder, watch)
        if learner.step % every == 0:  # only the first of a team knows how validation went
            ended = learner.team.share(learner.ended)
        if folder and (stopping or ended or folder.save_is_due):
            folder.save(learner)
    if stopping:
        stop.signal = stop.signal or signal.SIGINT  # another process was asked
        watch.stopped(learner.step)
    return ended


def _report(learner: Learner, folder: Folder, watch: Watch) -> None:
    line = learner.validate()
    folder.report(line)
    watch.reported(line)


def _test(learner: Learner, folder: Folder, watch: Watch) -> Result:
    """Try the selected network on the test sets, once; the last one too, and the average of the weights."""
    start, last = time.perf_counter(), learner.step
    try:
        watch.selecting(len(learner.candidates))
        selected, candidates = learner.select()
        folder.keep(selected)
        with learner.having(selected.weights):
            tests = _tested(learner, watch, "best")
        of_last = tests if selected.step == last else _tested(learner, watch, "last")
        of_average = None
        if learner.average is not None:
            with learner.having(learner.average):
                of_average = _tested(learner, watch, "average")
    except (KeyboardInterrupt, SystemExit):
        watch.stopped(learner.step)
        raise
    result = Result(
        score=sum(test.score for test in tests.values()) / len(tests),
        tests=tests,
        validation=selected.score,
        best_step=selected.step,
        steps=learner.step,
        early=learner.step < learner.settings.steps,
        parameters=learner.parameters,
        seconds=round(learner.seconds, 3),
        test_seconds=round(time.perf_counter() - start, 3),
        memory_mb=round(max(learner.memory_mb, learner.workers.peak_memory() / 1e6), 1),
        candidates=tuple(candidates),
        selection_samples=learner.selection_samples if candidates else 0,
        last=of_last,
        average=of_average,
    )
    folder.finish(result)
    return result


def _tested(learner: Learner, watch: Watch, which: Which) -> dict[str, Tested]:
    found = {}
    for task in learner.settings.tasks:
        told, view = watch.testing(task, NETWORKS[which]), learner.model.batch
        samples = official(task, "test").part(slice(learner.settings.test_samples))
        found[task] = Tested.of(evaluate(learner.workers, samples, progress=told, view=view))
    return found


@contextmanager
def _small_operations() -> Iterator[None]:
    """Have what is done between batches done by one thread: it is too little for several to be quicker."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)
