"""Files of a run that somebody edited or a disk damaged: every field of every file, changed in many ways.

    python tests/hostile/files.py 2000 [SEED]

After each change the run is reported on, evaluated and taken further. Each command must end in time with exit code 0, 1
or 2, without a traceback; and where training refuses, nothing in the folder may be other than before.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from helpers.training import small_test, tiny
from hostile.watching import Counts
from rnar.training import testing, train

VALUES: list[Any] = [
    None, True, "abc", "", "-1", -1, 0, 3, 10**9, 10**30, 0.5, -0.5, 7.0, 1e308, [], [1], ["x"], {}, {"x": 1}, [[]],
    "\x1b[31m", "a\nb", "../..", "my_models:mine", "no:such:thing",
]  # fmt: skip
TEXTS = ["NaN", "Infinity", "-Infinity", "1e999", "[" * 5000]
JSON = ("config.json", "result.json", "metrics.jsonl")
WHOLE = (*JSON, "state.safetensors", "best.safetensors", ".lock")


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The paths to all that is in nested data."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(place for key, each in inner for place in places(each, (*path, key)))]


def changed(value: Any, draw: random.Random) -> str:
    """JSON with one place changed."""
    place, mark = draw.choice(places(value)), "@@@"
    new = draw.choice([*VALUES, *([mark] * len(TEXTS))])
    if not place:
        value = new
    else:
        holder = value
        for key in place[:-1]:
            holder = holder[key]
        if draw.random() < 0.15:
            del holder[place[-1]]
        else:
            holder[place[-1]] = new
    return json.dumps(value).replace(f'"{mark}"', draw.choice(TEXTS))


def damage(folder: Path, draw: random.Random) -> str:
    """Change one file of a run; what was done."""
    if draw.random() < 0.75:
        path = folder / draw.choice(JSON)
        if path.suffix == ".jsonl":
            lines = path.read_text().splitlines()
            k = draw.randrange(len(lines))
            lines[k] = changed(json.loads(lines[k]), draw)
            path.write_text("\n".join(lines) + "\n")
        else:
            path.write_text(changed(json.loads(path.read_text()), draw))
        return f"{path.name}: {path.read_text()[:3000]}"
    path = folder / draw.choice(WHOLE)
    content, how = (
        path.read_bytes() if path.is_file() else b"",
        draw.choice(["cut", "flip", "empty", "gone", "fifo", "folder"]),
    )
    path.unlink(missing_ok=True)
    if how == "cut":
        path.write_bytes(content[: draw.randrange(len(content) + 1)])
    elif how == "flip" and content:
        k = draw.randrange(len(content))
        path.write_bytes(content[:k] + bytes([content[k] ^ 1 << draw.randrange(8)]) + content[k + 1 :])
    elif how == "empty":
        path.write_bytes(b"")
    elif how == "fifo":
        os.mkfifo(path)
    elif how == "folder":
        path.mkdir()
    return f"{path.name}: {how}"


def snapshot(folder: Path) -> dict[str, bytes | str]:
    files = [path for path in folder.iterdir() if path.name != ".lock"]
    return {path.name: path.read_bytes() if path.is_file() else "no file" for path in files}


def tried(tries: int, seed: int, where: Path) -> Counts:
    """Damage a run so many times; what came of it."""
    testing.official = small_test  # a test that takes no time
    good, counts, draw = where / "good", Counts(), random.Random(seed)
    train(tiny(good))
    for number in range(tries):
        folder = where / "run"
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(good, folder)
        about = f"try {number}, {damage(folder, draw)}"
        before = snapshot(folder)
        which = draw.choice(["report", "evaluate", "further", "again", "report and export"])
        flags = {
            "report": ["report", str(folder)],
            "report and export": ["report", str(folder), "--export", str(where / "results")],
            "evaluate": ["evaluate", str(folder), "--n", "5", "--samples", "2", "--threads", "1"],
            "again": ["train", "--resume", str(folder), "--threads", "1"],
            "further": ["train", "--resume", str(folder), "--threads", "1", "--steps", "8"],
        }[which]
        code = counts.call(flags, about)
        if code == 2 or which in ("report", "evaluate"):
            counts.check(lambda: snapshot(folder) == before, f"{about}: {which} changed the folder")  # noqa: B023
    return counts


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as place:
        found = tried(int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0, Path(place))
    print(*found.bad, found, f"bad: {len(found.bad)}", sep="\n")
    sys.exit(bool(found.bad))
