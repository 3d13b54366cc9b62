"""The compiler and its cache. A test that needs a fresh cache has its own, and the task that is cheapest to compile."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

import rnar.clrs
from helpers.fingerprint import fingerprints
from helpers.processes import finish, run, start
from rnar.common.compiling import _Announcer, cache_folder

MINIMUM = "import rnar.clrs; print(rnar.clrs.trace('minimum', [3.0, 1.0, 2.0]).outputs['min'])"
COMPILING = "rnar: compiling minimum"
FINGERPRINTS = "import json; from helpers.fingerprint import fingerprints; print(json.dumps(fingerprints()))"
CHECKED = """
import json
import numpy as np
from rnar.common.compiling import _Announcer, cache_folder, kernel

@kernel
def beyond(x):
    return x[len(x)]

try:
    beyond(np.zeros(2))
    noticed = False
except IndexError:
    noticed = True
print(json.dumps([noticed, str(cache_folder())]))
"""


@pytest.fixture(scope="module")
def used_cache(tmp_path_factory) -> Path:
    """A cache in which the task is compiled already; to be copied, not changed."""
    folder = tmp_path_factory.mktemp("cache")
    printed, said = run(MINIMUM, NUMBA_CACHE_DIR=folder)
    assert (printed, COMPILING in said) == ("1\n", True)
    return folder


def test_interpreted_code_gives_the_same_as_compiled_code_and_never_looks_beyond_an_array():
    # Interpreted, an index beyond an array is NumPy's IndexError.
    printed, _ = run(FINGERPRINTS, NUMBA_DISABLE_JIT="1")
    assert json.loads(printed) == fingerprints()


def test_a_second_process_loads_what_the_first_compiled():
    expected = fingerprints()
    printed, said = run(FINGERPRINTS)
    assert json.loads(printed) == expected
    assert said == ""


def test_the_first_use_says_that_it_compiles_and_the_second_says_nothing(used_cache):
    assert run(MINIMUM, NUMBA_CACHE_DIR=used_cache) == ("1\n", "")


SEVERAL = """
import os, rnar.clrs
for task in ("minimum", "insertion_sort"):
    if os.fork() == 0:
        rnar.clrs.trace(task, [3.0, 1.0, 2.0])
        os._exit(0)
    rnar.clrs.trace(task, [3.0, 1.0, 2.0])
"""


def test_several_functions_are_told_in_one_line_by_one_process(tmp_path):
    _, said = run(SEVERAL, NUMBA_CACHE_DIR=tmp_path)
    first, *others = said.splitlines()  # another, if this machine needs more than ten seconds
    assert first == f"{COMPILING} (at its first use; a few seconds)" and len(others) < 2


def test_in_a_terminal_the_line_is_written_over_and_cleared(monkeypatch, capsys):
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    announcer = _Announcer()
    announcer.begin(run)
    announcer.begin(finish)
    announcer.end()
    first, second, last = capsys.readouterr().err.split("\r\x1b[K")[1:]
    assert "compiling run" in first and "compiling finish (function 2" in second and last == ""


def test_only_what_is_used_is_compiled(tmp_path):
    _, said = run("import rnar.clrs; print(len(rnar.clrs.ALGORITHMS))", NUMBA_CACHE_DIR=tmp_path)
    assert said == ""


@pytest.fixture
def copied_package(tmp_path) -> Path:
    """A copy of the package that may be edited."""
    source, copy = Path(rnar.clrs.__file__).parents[1], tmp_path / "rnar"
    for part in ("clrs", "common"):
        shutil.copytree(source / part, copy / part, ignore=shutil.ignore_patterns("__pycache__"))
    (copy / "__init__.py").touch()
    return copy / "clrs"


INSERTION_SORT = """
import rnar.clrs
print(rnar.clrs.__file__, rnar.clrs.trace("insertion_sort", [3.0, 1.0, 2.0]).outputs["pred"].tolist(), sep="\\n")
"""


def test_an_edit_of_a_helper_in_another_file_is_seen(copied_package):
    def sort() -> tuple[str, bool]:
        settings = {"NUMBA_CACHE_DIR": copied_package / "cache", "PYTHONPATH": copied_package.parents[1]}
        printed, said = run(INSERTION_SORT, folder=copied_package.parents[1], **settings)
        file, pred = printed.splitlines()
        assert Path(file).parent == copied_package
        return pred, "compiling insertion_sort" in said

    assert sort() == ("[2, 1, 1]", True)
    assert sort() == ("[2, 1, 1]", False)
    helper = copied_package / "recording.py"
    before = helper.read_text()
    after = before.replace("before[order[k]] = order[k - 1]", "before[order[k]] = order[0]")
    assert after != before
    helper.write_text(after)
    assert sort() == ("[1, 1, 1]", True)
    helper.write_text(before)
    assert sort() == ("[2, 1, 1]", False), "what was compiled before the edit is still there"


OWN_HELPER = "from rnar.clrs import kernel\n\n@kernel\ndef worth(x):\n    return {times} * x\n"
OWN_ALGORITHM = """
from own_helper import worth
from rnar.clrs import algorithm, graph, node, step
from rnar.clrs.problems.arrays import Numbers

@algorithm(problem=Numbers(), hints=dict(i=node.mask_one), outputs=dict(total=graph.scalar))
def total(trace, key):
    found = {start}
    for i in range(len(key)):
        found += worth(key[i])
        step(trace, i)
    return found
"""


@pytest.mark.parametrize(
    "edited",
    ["own_algorithm", "own_helper"],
)
def test_an_edit_of_a_users_own_code_is_seen(tmp_path, edited):
    def total(start: float = 0.0, times: int = 1) -> str:
        (tmp_path / "own_helper.py").write_text(OWN_HELPER.format(times=times))
        (tmp_path / "own_algorithm.py").write_text(OWN_ALGORITHM.format(start=start))
        code = "import own_algorithm; print(own_algorithm.total.trace([1.0, 2.0]).outputs['total'])"
        return run(code, folder=tmp_path, NUMBA_CACHE_DIR=tmp_path / "cache", PYTHONDONTWRITEBYTECODE="1")[0]

    assert total() == "3.0\n"
    if edited == "own_algorithm":
        assert total(start=10.0) == "13.0\n"
    else:
        assert total(times=2) == "6.0\n"


def test_an_algorithm_that_stands_in_no_file_can_be_run(tmp_path):
    code = OWN_ALGORITHM.format(start=0.0).replace("from own_helper import worth", "worth = abs")
    printed, said = run(code + "\nprint(total.trace([1.0, 2.0]).outputs['total'])", NUMBA_CACHE_DIR=tmp_path)
    assert printed == "3.0\n"
    assert "compiling total" in said


@pytest.mark.parametrize("place", ["a file", "below a file", "below /proc"])
def test_a_cache_folder_that_cannot_be_made_is_no_error(tmp_path, place):
    file = tmp_path / "file"
    file.write_text("not a folder")
    folder = {"a file": file, "below a file": file / "deeper" / "still", "below /proc": Path("/proc/none/cache")}[place]
    printed, said = run(MINIMUM, NUMBA_CACHE_DIR=folder)
    assert printed == "1\n"
    assert COMPILING in said
    assert "Error" not in said and "Warning" not in said
    assert file.read_text() == "not a folder"


def test_a_home_that_cannot_be_written_is_no_error(tmp_path):
    file = tmp_path / "file"
    file.touch()
    printed, said = run(MINIMUM, NUMBA_CACHE_DIR="", XDG_CACHE_HOME=file / "cache", HOME=file)
    assert (printed, COMPILING in said) == ("1\n", True)


def test_a_cache_folder_that_vanishes_while_it_is_used_is_no_error(tmp_path):
    lost = (
        "import os, rnar.clrs, shutil; place = os.environ['NUMBA_CACHE_DIR']; shutil.rmtree(place); open(place, 'w')\n"
    )
    folder = tmp_path / "cache"
    assert run(lost + MINIMUM, NUMBA_CACHE_DIR=folder)[0] == "1\n"
    assert folder.is_file()


def test_without_a_setting_the_cache_is_in_the_users_cache_folder(tmp_path):
    run(MINIMUM, NUMBA_CACHE_DIR="", XDG_CACHE_HOME=tmp_path)
    assert list((tmp_path / "rnar").rglob("*.nbi"))


DAMAGES: dict[str, Callable[[bytes], bytes]] = {
    "emptied": lambda content: b"",
    "cut in half": lambda content: content[: len(content) // 2],
    "overwritten": lambda content: b"\x80\x04nonsense" * 99,
}


@pytest.mark.parametrize(
    "damage, suffixes", [*((damage, ["nbi", "nbc"]) for damage in DAMAGES), ("cut in half", ["nbc"])]
)
def test_a_torn_cache_is_compiled_anew(used_cache, tmp_path, damage, suffixes):
    cache = tmp_path / "cache"
    shutil.copytree(used_cache, cache)
    files = [path for suffix in suffixes for path in cache.rglob(f"*.{suffix}")]
    assert files
    for path in files:
        path.write_bytes(DAMAGES[damage](path.read_bytes()))
    printed, said = run(MINIMUM, NUMBA_CACHE_DIR=cache)
    assert (printed, COMPILING in said) == ("1\n", True)
    assert "Traceback" not in said
    assert run(MINIMUM, NUMBA_CACHE_DIR=cache) == ("1\n", ""), "it was not repaired"


def test_two_processes_may_compile_at_once(tmp_path):
    processes = [start(MINIMUM, NUMBA_CACHE_DIR=tmp_path) for _ in range(2)]
    assert [finish(process)[0] for process in processes] == ["1\n", "1\n"]
    assert run(MINIMUM, NUMBA_CACHE_DIR=tmp_path) == ("1\n", "")


IMPORT = """
import sys, time
began = time.process_time()
import numpy, numba
needed = time.process_time()
import rnar.clrs
print((time.process_time() - needed) / (needed - began), *{"torch", "matplotlib", "rich"} & set(sys.modules))
"""


def test_the_import_takes_little_longer_than_that_of_numpy_and_numba_which_it_needs():
    results = [run(IMPORT)[0].split() for _ in range(3)]
    assert [others for _, *others in results] == [[]] * 3
    assert min(float(ratio) for ratio, *_ in results) < 1.0


def test_bounds_checks_can_be_had_and_have_a_cache_of_their_own():
    noticed, folder = json.loads(run(CHECKED, NUMBA_BOUNDSCHECK="1")[0])
    assert noticed
    assert Path(folder) == cache_folder().with_name(cache_folder().name + "-checked")
