"""Hooks of mkdocs: make pages of tasks, models and results, and let links reach files outside of docs/.

A link of a page to a file of the repository (`../../results/runs.csv`) works in the sources as it stands. In the site
it leads to a copy of the file, or to its page where it is one of `ELSEWHERE`.
"""

from __future__ import annotations

import posixpath
import re
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

import api
import benchmark
import models

ROOT = Path(__file__).parents[2]
ELSEWHERE = {"CONTRIBUTING.md": "contributing.md", "CHANGELOG.md": "changelog.md", "LOG.md": "log.md"}
"""pages of the site that stand at the root of the repository"""
ORIGIN = {page: path for path, page in ELSEWHERE.items()}
LINK = re.compile(r"(\]\()(?!https?:|mailto:|#)([^)\s#]+)(#[^)\s]*)?(\))")
GENERATED = {"<!-- tasks -->": benchmark.overview, "<!-- models -->": models.overview}
"""tables that stand within pages"""
COPIES = "repository"
"""the folder of the site with copies of other files"""


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Put the generated pages into the navigation."""
    for section in config.nav or []:
        for generated in (benchmark, models, api):
            if generated.SECTION in section:
                section[generated.SECTION] = [*section[generated.SECTION][:1], *generated.navigation()]
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the generated pages."""
    for generated in (benchmark, models, api):
        for path, content in generated.pages().items():
            files.append(File.generated(config, path, content=content))
    for path, page in ELSEWHERE.items():
        files.append(File.generated(config, page, content=(ROOT / path).read_text("utf-8")))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files, **_: Any) -> str:
    """Let links that leave docs/ reach their target within the site; mkdocs reports those that reach nothing."""
    for mark, made in GENERATED.items():
        markdown = markdown.replace(mark, made()) if mark in markdown else markdown
    here = page.file.src_uri
    folder = posixpath.dirname(ORIGIN.get(here) or f"docs/{here}")

    def within(link: re.Match[str]) -> str:
        path = posixpath.normpath(posixpath.join(folder, link[2]))
        target = ELSEWHERE.get(path) or path.removeprefix("docs/")
        if target == path:  # not of the documentation
            if not (ROOT / path).is_file():
                return link[0]
            target = f"{COPIES}/{path}"
            if files.get_file_from_path(target) is None:
                files.append(File.generated(config, target, abs_src_path=str(ROOT / path)))
        return f"{link[1]}{posixpath.relpath(target, posixpath.dirname(here) or '.')}{link[3] or ''}{link[4]}"

    return LINK.sub(within, markdown)
