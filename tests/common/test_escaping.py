"""Text of others, where it is shown."""

import re

from hypothesis import given
from hypothesis import strategies as st

from rnar.common.escaping import as_cell, from_cell, printable


@given(st.text(st.characters(), max_size=20))
def test_what_is_printed_is_one_line_without_control_codes(text):
    found = printable(text)
    assert "\n" not in found and not re.search(r"[\x00-\x1f\x7f-\x9f]", found)
    assert printable(found) == found


def test_codes_can_still_be_read():
    assert printable("\x1b[31mred\x07\n\u202eright") == "\\x1b[31mred\\x07 \\u202eright"
    assert printable("naïve – 日本") == "naïve – 日本"


@given(st.text(max_size=8) | st.sampled_from(["=1+1", "-3.5", "+1", "@SUM(A1)", "'=x", "-x", "=", "1e5", "-inf"]))
def test_no_cell_is_a_formula_and_all_come_back(text):
    cell = as_cell(text)
    assert not cell.startswith(("=", "@")) and from_cell(cell) == text or text.startswith("'")
    if cell.startswith(("+", "-")):
        float(cell)
