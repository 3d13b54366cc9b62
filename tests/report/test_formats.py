"""Tables in every format."""

from __future__ import annotations

import csv
import html.parser
import io
import re
import shutil
import subprocess

import pytest
from rich.console import Console

from helpers.reporting import line_of, page_of
from rnar.report.formats import FORMATS, IN_LATEX, shown
from rnar.report.page import difference


@pytest.mark.parametrize("columns", [60, 80, 120, 250])
def test_a_terminal_of_any_width_shows_every_number_whole(run, runs, monkeypatch, columns):
    monkeypatch.setenv("COLUMNS", str(columns))
    code, out, err = run(runs, "--table", 2)
    assert (code, err) == (0, "") and max(map(len, out.splitlines())) <= columns
    words = set(out.split())
    assert {"83.00", "±3.00", "−4.08", "3×10000", "87.08", "±2.21", "±27.34", "100.00"} <= words and "…" not in out


def test_the_terminal_has_a_line_for_each_task(run, runs):
    out = run(runs, "--table", 1)[1]
    assert line_of(out, "Quickselect")[-4:] == ["83.00", "±3.00", "−4.08", "3×10000"]
    assert line_of(out, "Bubble Sort")[-3:] == ["–", "–", "–"]


def test_the_sign_of_a_difference_has_a_colour():
    console = Console(file=io.StringIO(), force_terminal=True, color_system="standard", highlight=False)
    console.print(shown(difference(50.0, 49.0)), shown(difference(50.0, 51.0)), end="")
    assert console.file.getvalue() == "\x1b[32m+1.00\x1b[0m \x1b[31m−1.00\x1b[0m"


def test_markdown_is_a_table_with_the_same_cells(run, runs):
    out = run(runs, "--table", 1, "--format", "markdown")[1]
    lines = [line for line in out.splitlines() if line.startswith("|")]
    assert len({line.count("|") for line in lines}) == 1
    (select,) = [line for line in lines if line.startswith("| Quickselect")]
    assert "| **<u>87.08</u>** ± 2.21 |" in select and select.endswith("| <u>83.00</u> ± 3.00 | −4.08 | 3 × 10000 |")


def test_csv_is_for_programs(run, runs):
    out = run(runs, "--table", 1, "--format", "csv")[1]
    rows = {row["task"]: row for row in csv.DictReader(io.StringIO(out))}
    row = rows["Quickselect"]
    assert float(row["RNAR ours"]) == 83.0 and float(row["RNAR ours ±"]) == 3.0
    assert (float(row["RNAR ours less paper"]), int(row["RNAR seeds"]), int(row["RNAR steps"])) == (-4.08, 3, 10000)
    assert rows["Bubble Sort"]["RNAR ours"] == ""
    assert all(None not in row for row in rows.values())


@pytest.mark.parametrize("table", [None, 1, 2, 3, 4])
def test_latex_has_matching_braces_environments_and_columns(runs, table):
    text = FORMATS["latex"](page_of(runs, table))
    assert text.isascii()
    plain = re.sub(r"\\[{}\\%&#$_]", "", text)
    depth = 0
    for letter in plain:
        depth += (letter == "{") - (letter == "}")
        assert depth >= 0
    assert depth == 0 and plain.count("$") % 2 == 0
    opened = []
    for what, name in re.findall(r"\\(begin|end)\{(\w+)\}", text):
        if what == "begin":
            opened.append(name)
        else:
            assert opened.pop() == name
    assert opened == []
    (align,) = re.findall(r"\\begin\{tabular\}\{(\w+)\}", text)
    rows = [line for line in text.splitlines() if line.endswith(r"\\")]
    assert len(rows) > 5 and {len(re.findall(r"(?<!\\)&", row)) for row in rows} == {len(align) - 1}


def test_latex_escapes_what_means_something_there():
    assert IN_LATEX.escape(r"a_b & 5% of {x}$#^~\ ±") == (
        r"a\_b \& 5\% of \{x\}\$\#\textasciicircum{}\textasciitilde{}\textbackslash{} $\pm$"
    )
    assert IN_LATEX.escape("Naïve – 3 × −1") == r"Na\"{\i}ve -- 3 $\times$ $-$1"


ENGINE = next(filter(None, map(shutil.which, ("tectonic", "pdflatex", "lualatex", "xelatex"))), None)


@pytest.mark.skipif(ENGINE is None, reason="needs a TeX")
@pytest.mark.parametrize("table", [None, 1, 2, 3, 4])
def test_latex_compiles(runs, table, tmp_path):
    packages = r"\usepackage{booktabs,graphicx,xcolor}"
    document = rf"\documentclass{{article}}{packages}\begin{{document}}%s\end{{document}}"
    (tmp_path / "page.tex").write_text(document % FORMATS["latex"](page_of(runs, table)))
    command = [str(ENGINE), *([] if "tectonic" in str(ENGINE) else ["-interaction=nonstopmode", "-halt-on-error"])]
    subprocess.run([*command, "page.tex"], cwd=tmp_path, check=True, capture_output=True, timeout=120)
    assert (tmp_path / "page.pdf").read_bytes().startswith(b"%PDF")


class Reader(html.parser.HTMLParser):
    """Checks that what is opened is closed, and keeps the texts of cells."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.rows: list[list[str]] = []
        self.links: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in ("meta", "br"):
            self.open.append(tag)
        self.links += [value or "" for name, value in attrs if name in ("href", "src")]
        if tag == "tr":
            self.rows.append([])
        if tag == "td":
            self.rows[-1].append("")

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if "td" in self.open:
            self.rows[-1][-1] += data


def test_html_is_one_file_that_needs_no_other(run, runs, tmp_path):
    path = tmp_path / "table.html"
    assert run(runs, "--table", 1, "--format", "html", "--out", path) == (0, "", "")
    text = path.read_text("utf-8")
    reader = Reader()
    reader.feed(text)
    assert reader.open == [] and reader.links == []
    assert "://" not in text and "url(" not in text and "@import" not in text and "<script" not in text
    (select,) = [row for row in reader.rows if row[:1] == ["Quickselect"]]
    assert select[-3:] == ["83.00 ± 3.00", "−4.08", "3 × 10000"]
    assert '<span class="worse">−4.08</span>' in text


CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


@pytest.mark.skipif(CHROMIUM is None, reason="needs a browser")
def test_a_browser_shows_the_html(run, runs, tmp_path):
    path, picture = tmp_path / "table.html", tmp_path / "table.png"
    run(runs, "--table", 1, "--format", "html", "--out", path)
    flags = ["--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={tmp_path / 'profile'}"]
    command = [str(CHROMIUM), *flags, f"--screenshot={picture}", "--window-size=1400,800", path.as_uri()]
    subprocess.run(command, capture_output=True, check=True, timeout=120)
    assert picture.read_bytes().startswith(b"\x89PNG") and picture.stat().st_size > 20_000  # a blank page has 5000
