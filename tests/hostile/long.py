"""10,000 hostile inputs: damaged files, command lines, problems in JSON, calls of Python. What came of them.

    python tests/hostile/long.py                                   # some hours; --minutes 10 for a part
    python tests/hostile/long.py --inputs 400 --seed 7 --out bad.txt

The inputs are those of the programs beside this one, drawn from the flags of the commands and the signatures of the
functions. Every few are tried in a process of their own, so that one that crashes ends no other; all that ended badly
(a traceback, a hang, gigabytes, a crash) is written to --out. Wrong arguments of modules of torch (`rnar.nn`) are
counted in a line of their own, for most of these are torch's to refuse.
"""

from __future__ import annotations

import argparse
import os
import pickle
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("COLUMNS", "100")

from helpers.training import small_test
from hostile import arguments, calls, files
from hostile.watching import Counts
from rnar.training import testing

KINDS: dict[str, tuple[int, Callable[[int, int, Path], Counts]]] = {
    "files of runs": (25, files.tried),
    "command lines": (25, arguments.tried),
    "JSON": (100, calls.tried_problems),
    "Python": (100, calls.tried_some),
}
"""by kind how many are tried in a process, and by what"""
ENDS = ("refused in one line", "accepted", "gone on without some", "stopped", "bad")


def apart(work: Callable[[Path], Counts]) -> tuple[Counter[str], list[str]]:
    """What comes of work in a process of its own; its end, if it crashes, is one bad input."""
    with tempfile.TemporaryDirectory() as place, tempfile.TemporaryFile() as answer:
        sys.stdout.flush()
        number = os.fork()
        if number == 0:
            code = 1
            try:
                testing.official = small_test
                found = work(Path(place))
                answer.write(pickle.dumps((found.ends, found.bad)))
                answer.flush()
                code = 0
            finally:
                os._exit(code)
        _, status = os.waitpid(number, 0)
        if status:
            return Counter(bad=1), [f"the process ended with {os.waitstatus_to_exitcode(status)}"]
        answer.seek(0)
        return pickle.loads(answer.read())


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--inputs", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--minutes", type=float, default=float("inf"), help="begin with nothing after so many")
    parser.add_argument("--out", type=Path, help="write what ended badly to this file")
    given = parser.parse_args()
    until = time.monotonic() + 60 * given.minutes
    ends: dict[str, Counter[str]] = {kind: Counter() for kind in KINDS}
    ends["modules"], bad = apart(calls.tried_modules)
    bad = [f"modules: {each}" for each in bad]
    wanted = {kind: given.inputs // len(KINDS) for kind in KINDS}
    seed = given.seed
    while any(wanted.values()) and time.monotonic() < until:
        for kind, (several, tried) in KINDS.items():
            count = min(several, wanted[kind])
            if count and time.monotonic() < until:
                wanted[kind], seed = wanted[kind] - count, seed + 1
                found, wrong = apart(lambda place, n=count, s=seed, tried=tried: tried(n, s, place))
                ends[kind] += found
                bad += [f"{kind}, seed {seed}: {each}" for each in wrong]
        print({kind: count.total() for kind, count in ends.items()}, len(bad), file=sys.stderr, flush=True)
        if given.out:
            given.out.write_text("\n\n".join(bad) + "\n")
    print(f"| inputs | tried | {' | '.join(ENDS)} |\n|---{'|---' * (1 + len(ENDS))}|")
    for kind, count in [*ends.items(), ("all", sum(ends.values(), Counter()))]:
        print(f"| {kind} | {count.total():,} | {' | '.join(f'{count[end]:,}' for end in ENDS)} |")
    return int(bool(bad))


if __name__ == "__main__":
    sys.exit(main())
