"""The wheel holds every file of the package, and what is installed from it works away from the sources."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path
from zipfile import ZipFile

import pytest

import rnar

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "src" / "rnar"


def run(*command: str | Path, folder: Path, **environment: str) -> str:
    """Run a program that does not see the sources; return what it prints."""
    clean = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(command, cwd=folder, env=clean | environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> Path:
    """Build from a copy: a build leaves files behind, and takes up those of an earlier one."""
    copy, wheels = tmp_path_factory.mktemp("sources"), tmp_path_factory.mktemp("wheels")
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, copy)
    shutil.copytree(PACKAGE, copy / "src" / "rnar", ignore=shutil.ignore_patterns("__pycache__"))
    build = [sys.executable, "-m", "pip", "wheel", "-q", "--no-index", "--no-deps", "--no-build-isolation"]
    run(*build, "-w", wheels, copy, folder=wheels)
    (built,) = wheels.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def programs(wheel, tmp_path_factory) -> Path:
    """Install the wheel into an environment of its own, which borrows only the dependencies; return its programs."""
    home = tmp_path_factory.mktemp("environment")
    venv.create(home, with_pip=True, symlinks=True)
    run(home / "bin" / "pip", "install", "-q", "--no-index", "--no-deps", wheel, folder=home)
    (packages,) = home.glob("lib/python*/site-packages")
    borrowed = {sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}
    (packages / "dependencies.pth").write_text("\n".join(borrowed))  # an editable rnar there is not
    return home / "bin"


def test_the_wheel_holds_every_file_of_the_package(wheel):
    with ZipFile(wheel) as archive:
        packed = {name for name in archive.namelist() if name.startswith("rnar/")}
    files = [path for path in PACKAGE.rglob("*") if path.is_file() and "__pycache__" not in path.parts]
    assert packed == {path.relative_to(PACKAGE.parent).as_posix() for path in files}
    assert {"rnar/py.typed", "rnar/clrs/official.json", "rnar/report/published.csv"} <= packed


def test_every_public_name_is_there_after_installation(programs, tmp_path):
    program = f"from rnar import {', '.join(rnar.__all__)}, __file__ as f; print(f)"
    printed = run(programs / "python", "-c", program, folder=tmp_path)
    assert Path(printed.strip()).is_relative_to(programs.parent)


def test_the_installed_command_solves_a_problem(programs, tmp_path):
    assert "solve" in run(programs / "rnar", "--help", folder=tmp_path)
    cache = str(tmp_path / "compiled")
    answer = run(programs / "rnar", "solve", "minimum", "5", "2", "9", "4", folder=tmp_path, NUMBA_CACHE_DIR=cache)
    assert "algorithm  the minimum is 2.0, at place 1" in answer


def test_a_type_checker_knows_the_public_names(programs, tmp_path):
    (tmp_path / "user.py").write_text(
        f"from rnar import {', '.join(rnar.__all__)}\nnetwork: Solver = load('minimum')\n"
    )
    checker = [sys.executable, "-m", "pyright", "--pythonpath", programs / "python", "user.py"]
    assert "0 errors, 0 warnings" in run(*checker, folder=tmp_path, PYRIGHT_PYTHON_IGNORE_WARNINGS="1")
