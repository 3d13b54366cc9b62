"""Training, from the settings to the result."""

import warnings
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from inspect import cleandoc
from textwrap import indent
from typing import Any

import torch

from rnar.common.checking import checked
from rnar.common.documenting import arguments
from rnar.training.environment import chosen_device, own_code, versions
from rnar.training.files import BEST, STATE
from rnar.training.folder import Folder, claimed, finished
from rnar.training.learner import Learner
from rnar.training.result import Result
from rnar.training.run import Run
from rnar.training.settings import Settings, canonical
from rnar.training.stopping import Diverged, Stop, stopping_politely
from rnar.training.testing import Testing
from rnar.training.watch import Beginning, Callback, Callbacks, TensorBoard


@checked
def train(
    settings: Settings | str | Sequence[str],
    callback: Callback | None = None,
    quiet: bool = False,
    **changes: Any,
) -> Result:
    """Train as the settings say, go on where their folder ends, or just tell the result that is in it.

        rnar.train("bfs", steps=500, lr=3e-4)

    The result is the same as if nothing had come between: bit for bit on the same machine, on its CPU, with the same
    number of threads.

    Args:
        settings: All of them, or the task or tasks to learn.
        callback: Is told of all that happens; see `rnar.Callback`.
        quiet: Show no progress. Else it is shown on stderr, or in a notebook.
        changes: Settings that are others than those; `lr`, `batch_size` and `hidden` are known too:
    """
    if "watch" in changes:  # its name before
        warnings.warn("watch is called callback now", DeprecationWarning, stacklevel=3)
        callback = changes.pop("watch")
    if not isinstance(settings, Settings):
        settings = Settings(settings if isinstance(settings, str) else tuple(settings))
    run = replace(settings, **canonical(changes, level=4)).resolved()
    return finished(run) or _train(run, _shown(callback, quiet))


if train.__doc__:
    train.__doc__ = f"{cleandoc(train.__doc__)}\n{indent(arguments(Settings), '    ')}\n"


def _shown(callback: Callback | None, quiet: bool) -> Callback:
    """The callback, with progress beside it."""
    from rich.console import Console  # rich takes a while

    from rnar.training.live import Live

    if quiet or isinstance(callback, Live):
        return callback or Callback()
    live = Live(Console(stderr=True, highlight=False, markup=False))
    return live if callback is None else Callbacks(live, callback)


@torch.inference_mode(False)
@torch.enable_grad()  # whatever the mode of the caller
def _train(settings: Settings, callback: Callback) -> Result:
    if settings.tensorboard:
        callback = Callbacks(callback, TensorBoard())
    device = chosen_device(settings.device)
    with closing(Learner(settings, device)) as learner, closing(callback), claimed(settings) as folder:
        fresh = not (settings.path / STATE).exists()
        start = learner.begin_with(Run(settings.start)) if settings.start and fresh else ""
        changes = _resume(learner, folder)
        about = learner.step, learner.parameters, str(device), learner.workers.threads
        callback.began(Beginning(settings, settings.path, *about, changes, start))
        with stopping_politely() as stop, _one_thread():
            _learn(learner, folder, callback, stop)
        if not learner.ended:
            raise KeyboardInterrupt
        return Testing(learner, folder, callback).result()


def _resume(learner: Learner, folder: Folder) -> list[str]:
    """Bring learner and folder to where the run ended; what has changed in its environment since."""
    state = folder.state()
    if state is not None:
        learner.restore(state, folder.path / STATE)
    folder.resume(learner.step, learner.best)
    data = {task: {k: v for k, v in s.state.items() if k != "next"} for task, s in learner.streams.items()}
    computed_by = {"device": str(learner.device), "threads": learner.workers.threads}
    environment = {"from_step": learner.step, **versions(), **computed_by}
    if code := own_code(learner.settings):
        environment["code"] = code
    return folder.begin(data, environment, learner.paced)


def _learn(learner: Learner, folder: Folder, callback: Callback, stop: Stop) -> None:
    """Take step after step, to the end or until somebody asks to stop."""

    def validate() -> None:
        line = learner.validate()
        folder.report(line)
        callback.reported(line)

    if learner.best is None:  # the network that has learned nothing is the first to beat
        validate()
        folder.save(learner)
    while not learner.ended and stop.signal is None:
        try:
            loss = learner.learn()
        except Diverged as error:
            assert learner.best is not None
            folder.keep(learner.best)
            kept = f"the best network so far, of step {learner.best.step}, is in {folder.path / BEST}"
            raise ValueError(f"{error}; {kept}. Try a lower learning rate, or clip") from None
        callback.stepped(learner.step, loss)
        if learner.step % learner.settings.validate_every == 0:
            validate()
        if stop.signal is not None or learner.ended or folder.save_is_due:
            folder.save(learner)
    if not learner.ended:
        callback.stopped(learner.step)


@contextmanager
def _one_thread() -> Iterator[None]:
    """Have what is done between batches done by one thread: it is too little for several to be quicker."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)
