"""A page as text. Each module has one way: `render(page)`."""

from collections.abc import Callable

from rnar.report.formats import csv, html, latex, markdown
from rnar.report.page import Page

FORMATS: dict[str, Callable[[Page], str]] = {
    "markdown": markdown.render,
    "latex": latex.render,
    "csv": csv.render,
    "html": html.render,
}
"""and the terminal, which is no text"""
