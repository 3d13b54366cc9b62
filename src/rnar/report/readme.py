"""The table of results in a document, between two marks that nobody sees."""

from __future__ import annotations

from pathlib import Path

from rnar.common.files import appearing, free

BEGIN, END = "<!-- results -->", "<!-- /results -->"


def filled(document: str, table: str, name: Path) -> str:
    """The document with this table between its marks; `name` is the file's, for errors."""
    before, begin, rest = document.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not (begin and end) or BEGIN in rest:
        raise ValueError(f"{name} has no place for a table: write {BEGIN} and, below it, {END} once where it shall be")
    return f"{before}{BEGIN}\n{table.strip()}\n{END}{after}"


def fill(path: Path, table: str) -> bool:
    """Put the table into the file; whether that changed anything."""
    target = free(path, replace=True)
    if not target.exists():
        raise ValueError(f"there is no {path} to put a table into")
    old = target.read_bytes().decode()
    new = filled(old, table, path)
    if new != old:
        with appearing(target) as file:
            file.write(new.encode())
    return new != old
