import pytest

from rnar.common.durations import took


@pytest.mark.parametrize(
    ("seconds", "said"), [(0.25, "0.2 s"), (59.6, "60 s"), (125, "2 min"), (3600, "60 min"), (9000, "2.5 h")]
)
def test_spans_of_time_are_told_as_one_says_them(seconds, said):
    assert took(seconds) == said
