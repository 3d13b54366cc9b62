"""`rnar report`: runs in the tables of the paper, in every format, and as rows that can be shared."""

from __future__ import annotations

import csv
import html.parser
import io
import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from rich.console import Console

from helpers.command import refused, runner
from helpers.reporting import made_up, write
from rnar.report.folders import gather
from rnar.report.formats import FORMATS, terminal
from rnar.report.formats.latex import escaped
from rnar.report.groups import grouped
from rnar.report.listing import listing
from rnar.report.page import Page, difference
from rnar.report.published import TASKS, substituted
from rnar.report.tables import paper_table

ROOT = Path(__file__).parents[2]


@pytest.fixture
def run(capsys, monkeypatch):
    """Run the command in this process: its exit code, and what it wrote to stdout and stderr."""
    monkeypatch.setenv("COLUMNS", "250")

    return runner(capsys, "report")


@pytest.fixture
def runs(tmp_path) -> Path:
    """Three seeds of quickselect, one of heapsort that is finished and one that is not, and a baseline."""
    folder = tmp_path / "runs"
    for seed, score in enumerate([0.80, 0.86, 0.83]):
        made_up(folder, "quickselect", seed=seed, score=score)
    made_up(folder, "heapsort", seed=0, score=0.5)
    made_up(folder, "heapsort", seed=1, score=None, done=400)
    made_up(folder, "heapsort", "triplet-gmpnn", score=0.6)
    return folder


def silent(reason: str) -> None:
    pytest.fail(reason)


def page_of(folder: Path, table: int | None = None) -> Page:
    groups = grouped(gather([folder], silent))
    return listing(groups) if table is None else paper_table(table, groups)


def cells(page: Page, title: str, number: int = 0) -> dict[str, str]:
    """The texts of the row of that title, by column."""
    row = [row for row in page.rows if row[0].text == title][number]
    names = page.names or page.head
    spread = {f"{name} ±": cell.spread for name, cell in zip(names, row, strict=True) if cell.spread}
    return {name: cell.text for name, cell in zip(names, row, strict=True)} | spread


def line_of(out: str, title: str) -> list[str]:
    (line,) = [line for line in out.splitlines() if line.startswith(title)]
    return line.removeprefix(title).split()


# ---- what stands in a table


def test_a_cell_is_the_mean_over_seeds_and_its_standard_error(runs):
    row = cells(page_of(runs, 1), "Quickselect")
    # by hand: (80 + 86 + 83) / 3 = 83; deviations -3, 3, 0; sqrt(18 / 2) / sqrt(3) = 1.732
    assert (row["RNAR ours"], row["RNAR ours ±"]) == ("83.00", "1.73")
    assert row["RNAR ours less paper"] == "−4.08"  # 83 - 87.08
    assert row["RNAR seeds × RNAR steps"] == "3 × 10000"
    assert (row["RNAR paper"], row["RNAR paper ±"], row["RT paper ±"]) == ("87.08", "2.21", "17.3")


def test_what_was_not_run_or_not_finished_is_a_dash_and_one_seed_has_no_error(runs):
    page = page_of(runs, 1)
    bubble, heap = cells(page, "Bubble Sort"), cells(page, "Heapsort")
    assert [bubble[k] for k in page.names if "RNAR ours" in k or "Triplet-GMPNN ours" in k] == ["–"] * 4
    assert heap["RNAR ours"] == "50.00" and "RNAR ours ±" not in heap and heap["RNAR seeds × RNAR steps"] == "1 × 10000"
    assert any("1 run is not finished" in words for words in page.about)


def test_the_best_is_marked_and_so_is_what_beats_its_baseline(runs):
    page = page_of(runs, 1)
    (heap,) = [row for row in page.rows if row[0].text == "Heapsort"]
    marked = {name: (cell.best, cell.beats) for name, cell in zip(page.names, heap, strict=True)}
    assert marked["RNAR paper"] == (True, True)  # 93.07, the paper's baseline has 49.13
    assert marked["RNAR ours"] == (False, False)  # 50, above the paper's baseline, below ours of 60
    assert marked["Triplet-GMPNN ours"] == (False, False)
    (select,) = [row for row in page.rows if row[0].text == "Quickselect"]
    assert dict(zip(page.names, select, strict=True))["RNAR ours"].beats  # there is no baseline of ours


def test_averages_are_a_dash_until_all_tasks_are_run_and_then_both_are_right(runs, tmp_path):
    page = page_of(runs, 1)
    row = cells(page, "Average, 10 tasks")
    assert (row["RNAR ours"], row["RNAR seeds × RNAR steps"]) == ("–", "2 of 10")
    some = cells(page, "Average, 2 run here")
    assert (some["RNAR ours"], some["RNAR paper"]) == ("66.50", f"{(87.08 + 93.07) / 2:.2f}")
    assert some["Triplet-GMPNN ours"] == "–"
    for place, task in enumerate(TASKS):
        model = "rnar-mpnn" if task in substituted() else "rnar"
        made_up(tmp_path / "all", task, model, score=1.0 if task == "find_maximum_subarray_kadane" else place / 100)
    page = page_of(tmp_path / "all", 2)
    of_tasks, of_categories = cells(page, "Average, 30 tasks"), cells(page, "Average, 8 categories")
    total = sum(range(30)) - list(TASKS).index("find_maximum_subarray_kadane") + 100
    assert of_tasks["RNAR ours"] == f"{total / 30:.2f}" and of_tasks["RNAR paper"] == "75.78"
    assert float(of_categories["RNAR ours"]) > float(of_tasks["RNAR ours"])  # one task is a category
    assert of_categories["RT paper"] == "66.60"
    assert not [row for row in page.rows if "run here" in row[0].text]


def test_where_the_paper_had_no_triplets_it_is_compared_with_rnar_mpnn_and_triplets_have_a_line(tmp_path):
    for task in TASKS:
        made_up(tmp_path, task, score=0.5)
    made_up(tmp_path, "bridges", "rnar-mpnn", score=0.7)
    page = page_of(tmp_path, 2)
    assert (cells(page, "Bridges")["RNAR ours"], cells(page, "Bridges")["RNAR ours less paper"]) == ("70.00", "−2.22")
    assert cells(page, "Jarvis' March")["RNAR ours"] == "–"  # with triplets is something else
    lines = [cells(page, "· RNAR with triplets", k) for k in range(4)]
    assert [(line["RNAR ours"], line["RNAR ours less paper"]) for line in lines] == [("50.00", "–")] * 4
    assert cells(page, "Average, 30 tasks")["RNAR ours"] == "–"
    assert cells(page, "· with triplets in all")["RNAR ours"] == "50.00"
    mixed = "RNAR-MPNN on Articulation Points, Bridges, Jarvis' March, MST-Kruskal"
    assert mixed in [note for _, note in page.notes]
    rows = {(row[0].text, row[1].text): row[4].text for row in page_of(tmp_path).rows}
    assert (rows["Bridges", "rnar-mpnn"], rows["Bridges", "rnar"]) == ("72.22", "–")


def test_runs_of_other_settings_have_a_line_of_their_own_that_says_so(runs):
    made_up(runs / "short", "quickselect", score=0.3, steps=500)
    made_up(runs / "small", "quickselect", score=0.2, size=8, batch=4)
    page = page_of(runs, 1)
    assert cells(page, "Quickselect")["RNAR ours"] == "83.00"  # the standard protocol stays as it was
    first, second = (cells(page, "· other settings", k) for k in (0, 1))
    assert (first["RNAR ours"], first["RNAR seeds × RNAR steps"]) == ("30.00", "1 × 500")
    assert (second["RNAR ours"], second["RNAR seeds × RNAR steps"]) == ("20.00", "1 × 10000")
    assert "batch 4, size 8" in [note for _, note in page.notes]


def test_models_with_the_same_other_settings_share_a_line(tmp_path):
    for model in ("rnar", "triplet-gmpnn"):
        made_up(tmp_path, "quickselect", model, score=0.5)
        made_up(tmp_path / "short", "quickselect", model, score=0.3, steps=500)
    lines = [row for row in page_of(tmp_path, 1).rows if row[0].text == "· other settings"]
    assert [[cell.text for cell in row].count("30.00") for row in lines] == [2]


def test_a_test_of_all_samples_that_there_are_is_nothing_unusual(tmp_path):
    made_up(tmp_path, "heapsort", test_samples=32)  # of 32
    made_up(tmp_path, "quickselect", test_samples=32)  # of 2048
    page = page_of(tmp_path, 1)
    assert [note for _, note in page.notes if "samples" in note] == ["test samples 32"]
    (marked,) = {row[0].text for row in page.rows if any(cell.marks and "±" not in cell.text for cell in row[5:])}
    assert marked == "Quickselect"


def test_a_model_of_ones_own_has_a_column_and_a_table_without_the_baseline_underlines_nothing(runs):
    made_up(runs, "heapsort", "rnar-gru", score=0.99)
    page = page_of(runs, 3)
    assert cells(page, "Heapsort")["rnar-gru ours"] == "99.00" and cells(page, "Heapsort")["RNAR-MPNN paper"] == "67.61"
    assert not any(cell.beats for row in page.rows for cell in row)
    assert any("triplet-gmpnn are in other tables" in words for words in page.about)


def test_the_listing_has_all_that_was_run_finished_or_not(runs):
    page = page_of(runs)
    rows = [[cell.text for cell in row] for row in page.rows]
    assert ["Heapsort", "triplet-gmpnn", "1 × 10000", "60.00", "49.13", "+10.87", "90.00", "500", "2.5"] in rows
    assert ["Heapsort", "rnar", "400 of 10000", "–", "93.07", "–", "90.00", "20", "1.0"] in rows
    assert ["Average, 30 tasks", "rnar", "2 of 30", "–", "75.78", "–", "", "", ""] in rows
    assert "seed 1 is not finished" in [note for _, note in page.notes]


# ---- formats


@pytest.mark.parametrize("columns", [60, 80, 120, 250])
def test_a_terminal_of_any_width_shows_every_number_whole(run, runs, monkeypatch, columns):
    monkeypatch.setenv("COLUMNS", str(columns))
    code, out, err = run(runs, "--table", 2)
    assert (code, err) == (0, "") and max(map(len, out.splitlines())) <= columns
    words = set(out.split())
    assert {"83.00", "±1.73", "−4.08", "3×10000", "87.08", "±2.21", "±27.34", "100.00"} <= words and "…" not in out


def test_the_terminal_has_a_line_for_each_task(run, runs):
    out = run(runs, "--table", 1)[1]
    assert line_of(out, "Quickselect")[-4:] == ["83.00", "±1.73", "−4.08", "3×10000"]
    assert line_of(out, "Bubble Sort")[-3:] == ["–", "–", "–"]


def test_the_sign_of_a_difference_has_a_colour():
    console = Console(file=io.StringIO(), force_terminal=True, color_system="standard", highlight=False)
    console.print(terminal.text(difference(50.0, 49.0)), terminal.text(difference(50.0, 51.0)), end="")
    assert console.file.getvalue() == "\x1b[32m+1.00\x1b[0m \x1b[31m−1.00\x1b[0m"


def test_markdown_is_a_table_with_the_same_cells(run, runs):
    out = run(runs, "--table", 1, "--format", "markdown")[1]
    lines = [line for line in out.splitlines() if line.startswith("|")]
    assert len({line.count("|") for line in lines}) == 1
    (select,) = [line for line in lines if line.startswith("| Quickselect")]
    assert "| **<u>87.08</u>** ± 2.21 |" in select and select.endswith("| <u>83.00</u> ± 1.73 | −4.08 | 3 × 10000 |")


def test_csv_is_for_programs(run, runs):
    out = run(runs, "--table", 1, "--format", "csv")[1]
    rows = {row["task"]: row for row in csv.DictReader(io.StringIO(out))}
    row = rows["Quickselect"]
    assert float(row["RNAR ours"]) == 83.0 and float(row["RNAR ours ±"]) == 1.73
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
    assert escaped(r"a_b & 5% of {x}$#^~\ ±") == (
        r"a\_b \& 5\% of \{x\}\$\#\textasciicircum{}\textasciitilde{}\textbackslash{} $\pm$"
    )
    assert escaped("Naïve – 3 × −1") == r"Na\"{\i}ve -- 3 $\times$ $-$1"


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
    assert select[-3:] == ["83.00 ± 1.73", "−4.08", "3 × 10000"]
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


# ---- rows that are shared


def exported(folder: Path) -> list[dict[str, str]]:
    with open(folder / "runs.csv", newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_export_writes_a_row_for_each_run_and_none_is_dropped(run, runs, tmp_path):
    code, out, err = run(runs, "--export", tmp_path / "results")
    assert (code, err) == (0, "") and "rows 6 added, 0 replaced, 0 kept" in out
    rows = exported(tmp_path / "results")
    (stopped,) = [row for row in rows if row["finished"] == "no"]
    assert (stopped["task"], stopped["seed"], stopped["steps"], stopped["planned"]) == ("heapsort", "1", "400", "10000")
    assert (stopped["test_n64"], stopped["last_validation"], stopped["minutes"]) == ("", "0.9", "20.0")
    (done,) = [row for row in rows if (row["task"], row["seed"]) == ("quickselect", "1")]
    expected = dict(model="rnar", steps="10000", validation="0.9", validation_step="10000", test_n64="0.86")
    expected |= dict(test_samples="32", test_low="0.85", test_high="0.87", minutes="500.0", memory_mb="2500.0")
    expected |= dict(parameters="1234", device="cpu", threads="2", commit="c0ffee", finished="yes", note="")
    assert {name: done[name] for name in expected} == expected
    assert "batch=32" in done["settings"] and "size=128" in done["settings"]


def test_a_table_of_exported_rows_is_the_table_of_the_folders(run, runs, tmp_path):
    run(runs, "--export", tmp_path / "results")
    for flags in ((), ("--table", 1), ("--table", 2, "--format", "csv")):
        folders = run(runs, *flags)
        assert folders[0] == 0 and run(tmp_path / "results" / "runs.csv", *flags) == folders
        assert run(tmp_path / "results", *flags) == folders
        assert run(tmp_path / "results" / "runs.csv", runs, *flags) == folders  # each run counts once


def test_rows_of_other_runs_and_what_people_wrote_stay(run, runs, tmp_path):
    results = tmp_path / "results"
    run(runs, "--export", results)
    rows = exported(results)
    for row in rows:
        row |= {"note": "on my laptop", "mood": "good"}
    other = rows[0] | {"seed": "77", "note": "somebody else's"}
    with open(results / "runs.csv", "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(other))
        writer.writeheader()
        writer.writerows([*rows, other])
    shutil.rmtree(runs / "heapsort" / "triplet-gmpnn")
    shutil.rmtree(runs / "heapsort" / "rnar" / "seed-1")
    made_up(runs, "heapsort", seed=1, score=0.7)  # it went on to its end
    assert "rows 0 added, 5 replaced, 2 kept" in run(runs, "--export", results)[1]
    after = exported(results)
    assert len(after) == 7 and all(row["mood"] == "good" for row in after)
    (grown,) = [row for row in after if (row["task"], row["model"], row["seed"]) == ("heapsort", "rnar", "1")]
    assert (grown["finished"], grown["test_n64"], grown["note"]) == ("yes", "0.7", "on my laptop")
    assert [row["note"] for row in after if row["seed"] == "77"] == ["somebody else's"]
    assert "triplet-gmpnn" in {row["model"] for row in after}
    assert "on my laptop" in run(results)[1]


def test_a_finished_row_is_not_replaced_by_an_unfinished_one(run, runs, tmp_path):
    run(runs, "--export", tmp_path / "results")
    (runs / "quickselect" / "rnar" / "seed-2" / "result.json").unlink()
    assert "rows 0 added, 5 replaced, 1 kept" in run(runs, "--export", tmp_path / "results")[1]
    (row,) = [row for row in exported(tmp_path / "results") if (row["task"], row["seed"]) == ("quickselect", "2")]
    assert (row["finished"], row["test_n64"]) == ("yes", "0.83")


def test_other_settings_are_another_row(run, runs, tmp_path):
    run(runs, "--export", tmp_path / "results")
    made_up(tmp_path / "more", "quickselect", seed=0, score=0.1, batch=4)
    assert "rows 1 added, 0 replaced, 6 kept" in run(tmp_path / "more", "--export", tmp_path / "results")[1]


def test_a_run_that_was_taken_further_keeps_its_first_result_until_it_has_a_new_one(run, tmp_path):
    path = made_up(tmp_path, "dfs", score=0.4, steps=500)
    shutil.move(path / "result.json", path / "result-500.json")
    config = json.loads((path / "config.json").read_text())
    config["settings"]["steps"] = 1000
    write(path / "config.json", config)
    rows = gather([tmp_path], silent)
    assert [(row.finished, row.steps, row.planned, row.test_n64) for row in rows] == [
        (True, 500, 500, 0.4),
        (False, 500, 1000, None),
    ]


def test_a_generalist_has_a_row_for_each_task_and_is_told_apart(tmp_path):
    path = made_up(tmp_path, "dfs", score=0.4)
    for name, change in {
        "config.json": lambda value: value["settings"].update(tasks=["dfs", "bfs"]),
        "result.json": lambda value: value["tests"].update(bfs=value["tests"]["dfs"] | {"score": 0.6}),
    }.items():
        value = json.loads((path / name).read_text())
        change(value)
        write(path / name, value)
    made_up(tmp_path / "alone", "dfs", score=0.9, seed=1)
    page = page_of(tmp_path, 2)
    assert (cells(page, "DFS")["RNAR ours"], cells(page, "· other settings")["RNAR ours"]) == ("90.00", "40.00")
    assert cells(page, "BFS")["RNAR ours"] == "60.00"
    assert "learned together with 1 other task" in [note for _, note in page.notes]


# ---- the README


def test_the_readme_has_the_table_of_the_shared_results():
    results, readme = ROOT / "results" / "runs.csv", (ROOT / "README.md").read_text("utf-8")
    table = FORMATS["markdown"](page_of(results))
    (shown,) = re.findall(r"<!-- results -->\n(.*)\n<!-- /results -->", readme, re.DOTALL)
    assert shown == table.strip(), "write it anew with: rnar report results/runs.csv --readme README.md"


def test_readme_replaces_what_is_between_the_marks_and_nothing_else(run, runs, tmp_path):
    path = tmp_path / "README.md"
    path.write_text("# mine\n\n<!-- results -->\nold\n<!-- /results -->\n\nthe end\n")
    assert "is new" in run(runs, "--readme", path)[1]
    text = path.read_text()
    assert text.startswith("# mine\n\n<!-- results -->\n| task |") and text.endswith("<!-- /results -->\n\nthe end\n")
    assert "\nold\n" not in text and FORMATS["markdown"](page_of(runs)).strip() in text
    assert "as it was" in run(runs, "--readme", path)[1] and path.read_text() == text
    path.write_text("no marks")
    refused(run(runs, "--readme", path), "README.md", "<!-- results -->")
    assert path.read_text() == "no marks"


# ---- what can be wrong


def test_a_folder_without_runs_is_refused(run, tmp_path, monkeypatch):
    refused(run(tmp_path), str(tmp_path), "no run", "rnar train")
    refused(run(tmp_path / "none"), "there is no", "none")
    monkeypatch.chdir(tmp_path)
    refused(run(), "there is no runs")
    (tmp_path / "a.csv").write_text("x,y\n1,2\n")
    refused(run(tmp_path / "a.csv"), "a.csv", "no column task")


@pytest.mark.parametrize("name", ["result.json", "config.json", "metrics.jsonl"])
def test_a_file_that_cannot_be_read_is_named_and_the_rest_reported(run, runs, name):
    broken = runs / "quickselect" / "rnar" / "seed-1" / name
    broken.write_text('{"torn\n')
    code, out, err = run(runs, "--table", 1)
    assert code == 0 and str(broken) in err and err.startswith("rnar: ") and "\n" not in err
    assert line_of(out, "Quickselect")[-4:] == ["81.50", "±1.50", "−5.58", "2×10000"]


@pytest.mark.parametrize("value", [[], {"score": 1}, {"tests": 5}])
def test_a_result_of_another_form_is_named_and_the_rest_reported(run, runs, value):
    broken = runs / "quickselect" / "rnar" / "seed-1" / "result.json"
    good = json.loads(broken.read_text())
    write(broken, value if not isinstance(value, dict) or "tests" not in value else good | value)
    code, out, err = run(runs, "--table", 1)
    assert code == 0 and str(broken.parent) in err and "left out" in err and "\n" not in err
    assert "2×10000" in line_of(out, "Quickselect")


def test_a_row_that_makes_no_sense_is_named_and_the_rest_reported(run, runs, tmp_path):
    run(runs, "--export", tmp_path)
    text = (tmp_path / "runs.csv").read_text()
    (tmp_path / "runs.csv").write_text(text.replace("quickselect,rnar,1,", "quickselect,rnar,one,"))
    code, out, err = run(tmp_path / "runs.csv", "--table", 1)
    assert code == 0 and "runs.csv" in err and "seed is 'one'" in err and "\n" not in err
    assert "2×10000" in line_of(out, "Quickselect")


def test_the_same_run_in_two_folders_counts_once(run, runs):
    shutil.copytree(runs / "quickselect" / "rnar" / "seed-0", runs / "copy")
    code, out, err = run(runs, "--table", 1)
    assert (
        code == 0 and "same run" in err and line_of(out, "Quickselect")[-4:] == ["83.00", "±1.73", "−4.08", "3×10000"]
    )


def test_flags_that_make_no_sense_together_are_refused(run, runs, tmp_path):
    refused(run(runs, "--table", 1, "--figure", "curves", "--out", "x.png"), "--table and --figure")
    refused(run(runs, "--figure", "curves"), "--out")
    refused(run(runs, "--figure", "curves", "--out", "x.bmp"), "x.bmp", ".png")
    refused(run(runs, "--table", 7), "--table")
    refused(run(runs, "--n", 4), "--n")
    refused(run(runs, "--bench", "x.json"), "--bench")
    refused(run(runs, "--tasks", "bfs"), "no run is of bfs", "heapsort")
    (tmp_path / "mine").write_text("mine")
    refused(run(runs, "--table", 1, "--out", tmp_path / "mine"), "--force")
    refused(run(runs, "--export", tmp_path / "mine"), "mine is a file")
    assert (tmp_path / "mine").read_text() == "mine"
    assert run(runs, "--table", 1, "--out", tmp_path / "mine", "--force")[0] == 0
    assert "83.00 ±1.73" in (tmp_path / "mine").read_text()


def test_tasks_are_chosen_by_wildcard(run, runs):
    out = run(runs, "--tasks", "quick*")[1]
    assert "Quickselect" in out and "Heapsort" not in out
