"""Take the pictures of docs/tutorials/ask.md, and those of the tables in docs/tutorials/sweeps.md, with Chromium.

    python tools/page_pictures.py docs/images [--only table]

Pages are of the pretrained networks, tables of results/runs.csv.
"""

from __future__ import annotations

import argparse
import math
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

from rich.console import Console
from rich.terminal_theme import MONOKAI

import rnar
from rnar.cli.report import Kind, report
from rnar.cli.solve import page as in_terminal

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

from helpers.browser import Browser  # noqa: E402

WIDE, NARROW = (1200, 900), (390, 844)


class Picture(NamedTuple):
    name: str
    task: str
    n: int
    seed: int
    step: int
    window: tuple[int, int] = WIDE
    dark: bool = False
    whole: bool = True


PICTURES = (
    Picture("view-searching", "quickselect", 14, 5, 20),
    Picture("view-sorting", "insertion_sort", 12, 3, 7, dark=True),
    Picture("view-graph", "dijkstra", 12, 7, 6),
    Picture("view-points", "graham_scan", 14, 2, 12, dark=True),
    Picture("view-strings", "naive_string_matcher", 24, 4, 14),
    Picture("view-tables", "lcs_length", 14, 3, 4),
    Picture("view-large", "quickselect", 64, 5, 90, whole=False),
    Picture("view-phone-searching", "quickselect", 14, 5, 20, NARROW, dark=True),
    Picture("view-phone-sorting", "insertion_sort", 12, 3, 7, NARROW),
    Picture("view-phone-graph", "dijkstra", 12, 7, 6, NARROW, dark=True),
    Picture("view-phone-points", "graham_scan", 14, 2, 12, NARROW),
    Picture("view-phone-strings", "naive_string_matcher", 24, 4, 14, NARROW, dark=True),
    Picture("view-phone-tables", "lcs_length", 14, 3, 4, NARROW),
)

TABLES: dict[str, tuple[Kind, tuple[str, ...]]] = {
    "table1": ("1", ("rnar", "triplet-gmpnn")),
    "table2": ("2", ("rnar", "triplet-gmpnn")),
    "table3": ("3", ("rnar", "rnar-mpnn", "rnar-nope")),
    "table4": ("4", ("rnar", "rnar-janossy-*")),
}
"""the number of each, and the models whose runs it shows"""
LEAST_STEPS = 1000
RESULTS = Path(__file__).parent.parent / "results" / "runs.csv"
ASKED = ("quickselect", [5.0, 2.0, 9.0, 4.0, 7.5, 1.0, 8.0])
TERMINAL = """<!DOCTYPE html><meta charset=utf-8><style>
body {{ background: #f6f7f9; margin: 0; padding: 14px; display: inline-block; }}
pre {{ background: #16181d; color: #e6e6ea; border-radius: 8px; margin: 0; padding: 14px 18px; }}
pre, pre * {{ font: 14px/1.5 'DejaVu Sans Mono', monospace; }}
</style><pre>{code}</pre>"""
READY = """<script>document.documentElement.dataset.ready = "yes"</script>"""
"""for the browser of the tests, which waits for it"""


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("into", type=Path)
    parser.add_argument("--only", default="", help="pictures whose names have this in them")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        browser = Browser(Path(folder) / "user")
        for picture in PICTURES:
            if given.only in picture.name:
                taken(browser, picture, Path(folder) / "page.html", given.into)
        if given.only in "solve":
            asked(browser, Path(folder) / "terminal.html", given.into / "solve.png")
        for name in TABLES:
            if given.only in name:
                tabulated(browser, *TABLES[name], Path(folder) / "table.html", given.into / f"{name}.png")
        browser.close()


def taken(browser: Browser, picture: Picture, path: Path, into: Path) -> None:
    page = rnar.view(picture.task, n=picture.n, seed=picture.seed)
    browser.open(page.save(path), *picture.window, dark=picture.dark, step=picture.step)
    target = into / f"{picture.name}.png"
    target.write_bytes(browser.screenshot(whole=picture.whole))
    print(f"{target}: {target.stat().st_size / 1000:.0f} kB, the page {len(page.html) / 1000:.0f} kB")


def asked(browser: Browser, path: Path, target: Path) -> None:
    """The terminal, as a browser shows it."""
    task, keys = ASKED
    console = Console(record=True, force_terminal=True, color_system="truecolor", width=100, highlight=False)
    console.print(f"$ rnar solve {task} {' '.join(f'{key:g}' for key in keys)}", style="bold")
    for line in in_terminal(rnar.solve(task, keys)):
        console.print(line, soft_wrap=True)
    code = console.export_html(theme=MONOKAI, inline_styles=True, code_format="{code}")
    path.write_text(TERMINAL.format(code=code) + READY, "utf-8")
    browser.open(path, 900, 100)
    cut_out(browser, "document.body", target)


def tabulated(browser: Browser, table: Kind, models: tuple[str, ...], path: Path, target: Path) -> None:
    """A table of the paper with our long runs."""
    report((RESULTS,), table, "html", models=models, least_steps=LEAST_STEPS, out=path, force=True)
    path.write_text(path.read_text("utf-8") + READY, "utf-8")
    browser.open(path, 1400, 100)
    cut_out(browser, "document.querySelector('table')", target, margin=16)


def cut_out(browser: Browser, element: str, target: Path, margin: int = 0) -> None:
    """A picture as wide as an element, and as high as the page is then."""
    wide = browser.evaluate(f"{element}.getBoundingClientRect().right")
    browser.resize(math.ceil(wide) + margin, 100)
    browser.resize(math.ceil(wide) + margin, browser.evaluate("document.documentElement.scrollHeight"))
    target.write_bytes(browser.screenshot())
    print(f"{target}: {target.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
