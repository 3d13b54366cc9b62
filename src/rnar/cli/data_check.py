"""`rnar data check`: whether the official sets, regenerated here, are those of dm-clrs."""

from collections.abc import Mapping
from typing import Annotated, get_args

import tyro
from rich.text import Text

from rnar.cli.flags import flag
from rnar.cli.output import bar, screen
from rnar.clrs import Split
from rnar.clrs.choosing import matching
from rnar.clrs.splits import differences, is_official, size_of


def check(
    pattern: Annotated[str, tyro.conf.arg(metavar="PATTERN")] = "*",
    /,
    split: Annotated[Split | None, flag("{train,val,test}", "all three")] = None,
) -> int:
    """Regenerate official sets and compare each of their features, by its digest, with what dm-clrs 2.0.3 generates.

    The exit code is 0 where all are the same, and 1 where any differs. A task that dm-clrs does not have has
    no official set, which is said and is no difference.

    Args:
        pattern: Which tasks, with wildcards: 'mst*'.
        split: Which of the sets.
    """
    chosen = [algorithm.name for algorithm in matching(pattern)]
    tasks = [task for task in chosen if is_official(task)]
    splits: tuple[Split, ...] = (split,) if split else get_args(Split)
    console, different = screen(), 0
    with bar(console) as progress:
        work = progress.add_task("", total=sum(size_of(task, s).samples for task in tasks for s in splits))
        for task in tasks:
            progress.update(work, description=task)
            found = {s: differences(task, s, lambda samples: progress.advance(work, samples)) for s in splits}
            different += sum(bool(features) for features in found.values())
            console.print(verdict(task, found), soft_wrap=True)
    for task in chosen:
        if task not in tasks:
            console.print(f"{task:30} has no official set: its sets are drawn as the official ones are", soft_wrap=True)
    sets = len(tasks) * len(splits)
    console.print(f"{sets - different} of {sets} sets are as dm-clrs 2.0.3 generates them", soft_wrap=True)
    return 1 if different else 0


def verdict(task: str, found: Mapping[str, list[str]]) -> Text:
    """One line: `bfs  train ok  val ok  test differs in hint/pi_h`."""
    line = Text(f"{task:30}")
    for split, features in found.items():
        said = (f"differs in {', '.join(features)}", "bold red") if features else ("ok", "green")
        line.append_text(Text.assemble(f" {split} ", said, " "))
    line.rstrip()
    return line
