"""Make a network that ships with the package of one that was trained.

    python tools/ship_network.py runs/minimum/rnar/seed-0 [--network last] [--samples 64]

writes src/rnar/networks/minimum: the weights as float16, the run's config.json, and a card with the score of the
network as it is stored there. Once more changes nothing; one that has a better score stays, but for --force.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from rnar.inference.shipping import ship
from rnar.training import Run

HOME = Path(__file__).parent.parent / "src" / "rnar" / "networks"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("runs", type=Path, nargs="+", help="folders of runs; nothing is written there")
    parser.add_argument("--network", default="best", choices=("best", "last", "average"))
    parser.add_argument("--samples", type=int, help="of the official test; all by default")
    parser.add_argument("--threads", type=int)
    parser.add_argument("--name", help="of the network's folder; by default its task's")
    parser.add_argument("--into", type=Path, default=HOME)
    parser.add_argument("--force", action="store_true", help="replace one that has a better score, too")
    given = parser.parse_args()
    for folder in given.runs:
        name = given.name or "+".join(Run(folder).settings.tasks)
        ship(folder, given.into / name, given.network, given.samples, given.threads, given.force, print)


if __name__ == "__main__":
    main()
