"""The documentation is built without a warning, no link of it is broken, and it asks nobody for anything."""

from __future__ import annotations

import os
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from helpers.browser import Browser, installed
from rnar.clrs import ALGORITHMS
from rnar.models import MODELS
from rnar.models.registry import find

ROOT = Path(__file__).parents[2]
FETCHED = {("script", "src"), ("img", "src"), ("iframe", "src"), ("source", "src"), ("link", "href")}
LARGEST = 60  # MB, of the whole site


@pytest.fixture(scope="module")
def site(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    path = os.pathsep.join(path for path in sys.path if path)
    environment = {**os.environ, "PYTHONPATH": path, "NO_MKDOCS_2_WARNING": "1"}
    build = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", folder]
    done = subprocess.run(build, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, ""), done.stdout + done.stderr
    return folder


class Links(HTMLParser):
    """What a page refers to, and the names within it that others may refer to."""

    def __init__(self, path: Path):
        super().__init__()
        self.found: list[tuple[str, str, str]] = []
        self.names: set[str] = set()
        self.feed(path.read_text("utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name in ("href", "src") and value:
                self.found.append((tag, name, value))
            elif name in ("id", "name") and value:
                self.names.add(value)


@pytest.fixture(scope="module")
def pages(site) -> dict[Path, Links]:
    """All pages but those of `rnar view`, which have no links, and the one for what is missing."""
    paths = [path for path in site.rglob("*.html") if path.parent.name != "view" and path.name != "404.html"]
    return {path: Links(path) for path in paths}


def test_no_local_link_is_broken(site, pages):
    broken = []
    for page, links in pages.items():
        for _, _, link in links.found:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (page.parent / unquote(parts.path)).resolve() if parts.path else page
            there = target.is_file() and target.is_relative_to(site)
            if not there or (parts.fragment and target in pages and parts.fragment not in pages[target].names):
                broken.append(f"{page.relative_to(site)}: {link}")
    assert broken == []


def test_nothing_is_fetched_from_elsewhere(site, pages):
    elsewhere = {
        f"{page.relative_to(site)}: {link}"
        for page, links in pages.items()
        for tag, name, link in links.found
        if (tag, name) in FETCHED and urlsplit(link).netloc
    }
    assert elsewhere == set()
    for style in site.rglob("*.css"):
        text = style.read_text("utf-8")
        assert "url(http" not in text and "@import" not in text


def test_every_task_and_every_model_has_a_page(site):
    for task in (name for name in ALGORITHMS if ":" not in name):
        page = (site / "benchmark" / f"{task}.html").read_text("utf-8")
        assert f'src="view/{task}.html#' in page and (site / "benchmark" / "view" / f"{task}.html").is_file()
        assert all(f"<code>{name}</code>" in page for name in ALGORITHMS[task].spec.hints)
    for model in MODELS:
        page = (site / "models" / f"{model}.html").read_text("utf-8")
        assert f"{find(model).parameters('quickselect'):,} parameters" in page


def test_the_site_is_small_enough(site):
    assert sum(path.stat().st_size for path in site.rglob("*") if path.is_file()) < LARGEST * 1e6


@pytest.mark.skipif(installed() is None, reason="no browser")
def test_it_is_read_and_searched_from_a_folder_without_a_network(site, tmp_path):
    browser = Browser(tmp_path / "user")
    try:
        for name in ("index", "benchmark/quickselect", "models/rnar", "api/rnar.nn"):
            browser.open(site / f"{name}.html", until="!!document.querySelector('[data-md-component=content]')")
            assert [url for url in browser.requests if not url.startswith(("file:", "data:", "about:"))] == []
            assert browser.complaints == []
        browser.click(".md-search__input")
        browser.write("heapsort")
        browser.wait("document.querySelectorAll('.md-search-result__item').length > 0")
        assert "Heapsort" in browser.evaluate("document.querySelector('.md-search-result__list').textContent")
    finally:
        browser.close()
