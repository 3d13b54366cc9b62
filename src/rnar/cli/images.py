"""Which files a figure can be."""

from __future__ import annotations

from pathlib import Path

IMAGES = ("png", "svg", "pdf")


def image_format(flag: str, path: Path) -> str:
    """By the ending of its name; `flag` is where that was given."""
    found = path.suffix.lower().removeprefix(".")
    if found not in IMAGES:
        raise ValueError(f"{flag} {path}: the name of a figure must end in one of .{', .'.join(IMAGES)}")
    return found
