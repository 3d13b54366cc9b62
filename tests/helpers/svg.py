"""What a figure says."""

from __future__ import annotations

import xml.etree.ElementTree
from pathlib import Path


def texts(path: Path) -> list[str]:
    """Everything that is written in an SVG, which has texts in comments."""
    return [node.text.strip() for node in _comments(path) if node.text]


def _comments(path: Path):
    builder = xml.etree.ElementTree.TreeBuilder(insert_comments=True)
    root = xml.etree.ElementTree.fromstring(path.read_bytes(), xml.etree.ElementTree.XMLParser(target=builder))
    return [node for node in root.iter() if node.tag is xml.etree.ElementTree.Comment]
