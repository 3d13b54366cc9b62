"""Pages of the samples that went most wrong, for `rnar evaluate --worst`."""

from collections.abc import Sequence
from pathlib import Path

import torch

from rnar.common.files import free
from rnar.evaluation.sets import ProblemSet
from rnar.inference.answer import Answer
from rnar.inference.solver import by_name
from rnar.inference.worst import worst
from rnar.report.trials import Outcome
from rnar.training import Run


def check_worst(count: int | None, folder: Path, force: bool, sets: dict[Path, list[ProblemSet]]) -> None:
    """Raise now what would be raised when all is evaluated."""
    if count is None:
        return
    if count < 1:
        raise ValueError(f"--worst {count}: at least one sample is needed")
    if folder.exists() and not folder.is_dir():
        raise ValueError(f"--pages {folder} is a file; give a folder for the pages")
    names = [_name(Run(path), problems, rank + 1) for path in sets for problems in sets[path] for rank in range(count)]
    for name in names if folder.is_dir() else ():
        free(folder / name, replace=force)


def worst_pages(outcomes: Sequence[Outcome], count: int, folder: Path, force: bool, device: torch.device) -> list[str]:
    """Write them; a line for each."""
    lines = []
    for outcome in outcomes:
        run, problems = outcome.run, outcome.problems
        reasoner = outcome.trial.network(run, device)
        found = worst(reasoner, run.model.batch, problems, outcome.evaluation, count)
        for rank, (number, belief) in enumerate(found, 1):
            answer = Answer(belief.sample, belief, by_name(run), f"sample {number}, {problems}")
            folder.mkdir(parents=True, exist_ok=True)
            target = free(folder / _name(run, problems, rank), replace=force)
            answer.view().save(target)
            lines.append(f"{target}  sample {number}: {belief.score:.1%}; hints {answer.hints}")
        if not found:
            lines.append(
                f"{problems.task}, n={problems.n}, {by_name(run)}: every sample is right, so none is the worst"
            )
    return lines


def _name(run: Run, problems: ProblemSet, rank: int) -> str:
    words = [problems.task, run.settings.name, f"seed-{run.settings.seed}", f"n{problems.n}", f"worst-{rank}"]
    return "-".join(words).replace(":", ".").replace("/", ".") + ".html"
