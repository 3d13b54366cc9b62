"""Text that somebody else wrote, made safe for where it is shown."""

import re

UNSEEN = re.compile("[\x00-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
"""control codes, by which a name could command a terminal or turn text around"""
FORMULA = ("=", "+", "-", "@")
"""how a cell begins that a spreadsheet would compute"""


def printable(text: str) -> str:
    """In one line, with every control code as an escape that can be read."""
    return UNSEEN.sub(lambda code: " " if code[0] in "\t\n\r" else ascii(code[0])[1:-1], text)


def as_cell(text: str) -> str:
    """A cell of a CSV that no spreadsheet takes for a formula: text gets a quote before it, as spreadsheets have it."""
    return f"'{text}" if text.startswith(FORMULA) and not _is_number(text) else text


def from_cell(text: str) -> str:
    """The inverse of `as_cell`."""
    return text[1:] if text[:1] == "'" and text[1:].startswith(FORMULA) else text


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
