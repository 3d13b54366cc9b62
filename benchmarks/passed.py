"""The functions and files of this package that one training step passes: what has to be read to follow it.

    python benchmarks/passed.py             # how many
    python benchmarks/passed.py --list      # which

The step is `reasoner.loss(batch).backward()` of RNAR on Quickselect with 4 nodes. Functions count once, comprehensions
and lambdas not at all; nothing is timed.
"""

from __future__ import annotations

import sys
import threading
from collections import defaultdict
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import rnar
import rnar.clrs
from rnar.models import find

SOURCES = str(Path(rnar.__file__).parent)


def passed() -> dict[str, set[str]]:
    """The functions by the file that they stand in."""
    model = find("rnar")
    network, batch = (
        model.build("quickselect", seed=0),
        model.batch(rnar.clrs.sample("quickselect", n=4, batch=4, seed=0)),
    )
    network.loss(batch).backward()  # compiles
    codes: set[CodeType] = set()

    def told(frame: FrameType, event: str, _: Any) -> None:
        if event == "call":
            codes.add(frame.f_code)

    threading.setprofile(told)
    sys.setprofile(told)
    try:
        network.loss(batch).backward()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)  # type: ignore[arg-type]
    files = defaultdict(set)
    for code in codes:
        if code.co_filename.startswith(SOURCES) and not code.co_name.startswith("<"):
            files[str(Path(code.co_filename).relative_to(SOURCES))].add(f"{code.co_firstlineno} {code.co_name}")
    return dict(files)


if __name__ == "__main__":
    files = passed()
    if "--list" in sys.argv:
        for name in sorted(files):
            print(
                name,
                *(f"    {function}" for function in sorted(files[name], key=lambda x: int(x.split()[0]))),
                sep="\n",
            )
    print(f"{sum(map(len, files.values()))} functions in {len(files)} files")
