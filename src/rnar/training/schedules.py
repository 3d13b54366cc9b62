"""Schedules of the learning rate: by what it is multiplied, from the share of training that is done.

To add one, write its function and give it a name in `SCHEDULES`. One of your own needs neither; in a file
`my_schedules.py`:

    def warmup(done: float) -> float:
        return min(1.0, done / 0.1)

Then `--schedule my_schedules:warmup` takes it, and so does `Settings(schedule=warmup)` from Python.
"""

import math
from collections.abc import Callable
from typing import Any, cast

from rnar.common.importing import imported
from rnar.common.names import nearest

Schedule = Callable[[float], float]
"""the share of training that is done, from 0 to 1 -> the factor of the learning rate"""


def constant(done: float) -> float:
    """1 throughout."""
    return 1.0


def cosine(done: float) -> float:
    """From 1 down to 0 along half a wave of the cosine (Loshchilov and Hutter, 2017, without restarts)."""
    return (1 + math.cos(math.pi * done)) / 2


SCHEDULES: dict[str, Schedule] = {"constant": constant, "cosine": cosine}


def find(schedule: str | Schedule) -> Schedule:
    """The schedule of that name; `module:function` imports one of yours, and a function is one already."""
    function: Any = schedule
    if isinstance(schedule, str) and ":" in schedule:
        function = imported(schedule, cast(Any, Callable), "schedule", "my_schedules:warmup")
    elif isinstance(schedule, str) and schedule in SCHEDULES:
        function = SCHEDULES[schedule]
    elif isinstance(schedule, str):
        known = f"{', '.join(SCHEDULES)}, and module:function for yours"
        raise ValueError(f"no schedule {schedule!r}{nearest(schedule, SCHEDULES)}; there are {known}")
    if not callable(function):
        expected = "it must be a function, as rnar.training.schedules.cosine is"
        raise ValueError(f"the schedule {schedule!r} is {function!r}; {expected}")
    return cast(Schedule, function)


def name_of(schedule: str | Schedule) -> str:
    """By what a run remembers its schedule."""
    if isinstance(schedule, str):
        return schedule
    for name, known in SCHEDULES.items():
        if schedule is known:
            return name
    name = getattr(schedule, "__qualname__", "<")
    if name.endswith("<lambda>") or name == "<":
        raise ValueError("a run remembers its schedule by name, and this one has none; write it as a function with def")
    return f"{schedule.__module__}:{name}"


def factor(schedule: str | Schedule, done: float) -> float:
    """By what the learning rate is multiplied at this moment, if the schedule makes sense there."""
    value = find(schedule)(done)
    if not (isinstance(value, (int, float)) and 0 <= value < math.inf):
        raise ValueError(
            f"the schedule {name_of(schedule)} gives {value!r} after {done:.0%} of training; "
            "the learning rate is multiplied by it, so that it must be a number of at least 0"
        )
    return float(value)
