"""Training, from the settings to the result."""

import signal
from collections.abc import Iterator
from contextlib import closing, contextmanager, nullcontext

import torch

from rnar.training.environment import own_code, versions
from rnar.training.files import STATE
from rnar.training.folder import Folder, claimed, finished
from rnar.training.learner import Learner
from rnar.training.result import Result
from rnar.training.run import Run
from rnar.training.settings import Resolved, Settings
from rnar.training.stopping import Stop, stopping_politely
from rnar.training.team import Team, together
from rnar.training.testing import test
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
        return test(learner, folder, watch) if folder else None


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


@contextmanager
def _small_operations() -> Iterator[None]:
    """Have what is done between batches done by one thread: it is too little for several to be quicker."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)
