"""The peak memory of commands against the number of nodes: a process of its own for each point.

    python benchmarks/memory_of_commands.py
    python benchmarks/memory_of_commands.py --commands solve view --n 100 200 500 --task minimum

`solve` and `view` take all steps of one random problem with the network that ships, so that large n take minutes;
`evaluate` scores it on 4 samples; `train` takes 2 steps with 4 samples, and tests with few. What counts is the peak of
the resident set of the largest process of a command, all libraries included, and its wall-clock time.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile

COMMANDS = {
    "solve": "solve {task} --n {n} --json",
    "view": "view {task} --n {n} --out {folder}/page.html",
    "evaluate": "evaluate {task} --n {n} --samples 4",
    "train": "train {task} --sizes {n} --batch-size 4 --steps 2 --validate-every 2 --validation-samples 2 "
    "--selection-samples 2 --test-samples 2 --folder {folder}/run",
}
SIZES = (16, 32, 64, 128)
WORK = """
import json, resource, sys, time
from rnar.cli.main import main
start = time.perf_counter()
code = main(sys.argv[1:])
peak = max(resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
peak /= 1e6 if sys.platform == "darwin" else 1e3
print(json.dumps({"code": code, "peak": peak, "seconds": time.perf_counter() - start}))
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--commands", metavar="NAME", nargs="+", default=list(COMMANDS), choices=COMMANDS)
    parser.add_argument("--n", metavar="N", nargs="+", type=int, default=SIZES)
    parser.add_argument("--task", default="minimum")
    arguments = parser.parse_args()
    print(f"{'command':10} {'n':>5} {'peak MB':>8} {'seconds':>8}")
    for command in arguments.commands:
        for n in arguments.n:
            print(f"{command:10} {n:5} {measured(command, arguments.task, n)}", flush=True)


def measured(command: str, task: str, n: int) -> str:
    """The peak memory and the seconds of a command, in words."""
    with tempfile.TemporaryDirectory() as folder:
        words = COMMANDS[command].format(task=task, n=n, folder=folder).split()
        done = subprocess.run([sys.executable, "-c", WORK, *words], capture_output=True, text=True)
    said = json.loads(done.stdout.splitlines()[-1]) if done.returncode == 0 else {"code": done.returncode}
    if said["code"]:
        return f"failed: {(done.stderr.splitlines() or ['without a word'])[-1]}"
    return f"{said['peak']:8.0f} {said['seconds']:8.1f}"


if __name__ == "__main__":
    main()
