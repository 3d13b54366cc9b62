"""Commands with hostile values for their own flags.

    python tests/hostile/arguments.py 500 [SEED]

Argument lists are drawn from the flags that each command has, by its help. Each must end in time with exit code 0, 1 or
2, without a traceback. Training stops by itself after two steps.
"""

from __future__ import annotations

import contextlib
import io
import random
import re
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from helpers.training import small_test, tiny
from hostile.watching import Counts
from rnar.cli.main import COMMANDS, main
from rnar.training import testing, train
from rnar.training.learner import Learner

VALUES = (
    "", " ", "0", "1", "2", "3", "-1", "1.5", "-0.0", "1e308", "-1e308", "1e-320", "nan", "inf", "-inf", "1e999", "1_0",
    "1000000000", "100000000000", "99999999999999999999999", "0x10", "²", "٣", "true", "False", "None", "auto", "[]",
    "[[5, 2, 9]]", "[5, 2, 9]", "[[]]", "{}", "[[[[1]]]]", '["A", "T"]', "[" * 3000, "*", "?", "[a", "**", ",", ",,",
    "0-4", "4-0", "bfs", "BFS", "dfs,bfs", "nosuch", "my:own", ":", "a:b:c", "rnar", "../..", "/", "/dev/null",
    "/dev/full", "/proc", ".", "x" * 300, "x/" * 200, "\x1b[31m", "a\nb", "a\tb", "ü", "\udcff", "%s", "{0}", "$HOME",
    "~", "-", "--", "--help", "-h", "'", '"', "=1+1", "latex", "png", "x.png", "x.csv", "quick", "table1", "rnar:rnar",
)  # fmt: skip
SMALL = {
    "train": ["--steps", "2", "--validate-every", "2", "--size", "4", "--batch", "2", "--sizes", "4", "--threads", "1",
              "--validation-samples", "2", "--ood-samples", "0", "--selection-samples", "2", "--test-samples", "2"],
    "evaluate": ["--n", "5", "--samples", "2", "--threads", "1"],
    "bench": ["--n", "4", "--batch", "2", "--size", "4", "--rounds", "1", "--threads", "1"],
    "sweep": ["--dry-run"],
    "data check": ["bfs", "--split", "train"],
    "data export": ["bfs", "out.npz", "--n", "4", "--samples", "2"],
    "data show": ["bfs"],
}  # fmt: skip
"""what makes a command quick; hostile flags follow"""


def flags_of(command: str) -> list[str]:
    """The names of a command's flags, by its help."""
    page = io.StringIO()
    with contextlib.redirect_stdout(page):
        main([*command.split(), "--help"])
    return sorted({*re.findall(r"--[a-z][a-z-]*", page.getvalue())})


def stopping_early(learn: Callable[..., Any]) -> Callable[..., Any]:
    def once_or_twice(self: Learner) -> Any:
        if self.step >= 2:
            raise KeyboardInterrupt
        return learn(self)

    return once_or_twice


def words(command: str, flags: list[str], draw: random.Random) -> list[str]:
    """A command line. Some words stand where no flag is."""
    found = [*command.split(), *SMALL.get(command, [])]
    for _ in range(draw.randrange(1, 4)):
        if draw.random() < 0.25 or not flags:
            found.insert(draw.randrange(len(command.split()), len(found) + 1), draw.choice(VALUES))
        else:
            found += [draw.choice(flags), *draw.choices(VALUES, k=draw.choice([0, 1, 1, 1, 2]))]
    return found


def tried(tries: int, seed: int, where: Path) -> Counts:
    """So many command lines; what came of them."""
    testing.official, Learner.learn = small_test, stopping_early(Learner.learn)
    counts, draw = Counts(), random.Random(seed)
    with contextlib.chdir(where):
        train(tiny(Path("runs/bfs/rnar/seed-0"), steps=2))
        flags = {command: flags_of(command) for command in COMMANDS}
        for number in range(tries):
            command = draw.choice(list(COMMANDS))
            line = words(command, flags[command], draw)
            if command == "evaluate" and draw.random() < 0.8:
                line.insert(1, "runs")
            if "--engine" in line or "--address" in line or "--against" in line:
                continue  # these look for other programs, and wait for them
            counts.call(line, f"try {number}")
    return counts


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as place:
        found = tried(int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0, Path(place))
    print(*found.bad, found, f"bad: {len(found.bad)}", sep="\n")
    sys.exit(bool(found.bad))
