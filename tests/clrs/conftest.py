"""One process that computes with bounds checks, started before the first test because it compiles for a minute."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator

import pytest

from helpers.processes import start

CHECKED = """
import json
import numpy as np
from helpers.fingerprint import fingerprints
from rnar.common.compiling import cache_folder, kernel

@kernel
def beyond(x):
    return x[len(x)]

try:
    beyond(np.zeros(2))
    noticed = False
except IndexError:
    noticed = True
print(json.dumps([noticed, str(cache_folder()), fingerprints()]))
"""


@pytest.fixture(scope="session", autouse=True)
def checked(request) -> Iterator[subprocess.Popen[str] | None]:
    """It runs beside the other tests, and only where the test that waits for it is among them."""
    awaited = "test_no_code_reads_or_writes_beyond_an_array"
    process = None
    if any(item.name == awaited for item in request.session.items):
        process = start(CHECKED, NUMBA_BOUNDSCHECK="1")
    yield process
    if process is not None:
        process.kill()
        process.communicate()
