"""Chromium without a window, driven over a pair of pipes by its own protocol: no library is needed for that.

The protocol is https://chromedevtools.github.io/devtools-protocol; messages are JSON, each ended by a zero byte.
"""

from __future__ import annotations

import base64
import json
import os
import select
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
FLAGS = (
    "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync --disable-extensions --remote-debugging-pipe --hide-scrollbars"
).split()
PATIENCE = 300  # seconds, after which it is taken for dead
READY = 'document.documentElement.dataset.ready == "yes"'
KEYS = {"ArrowLeft": 37, "ArrowRight": 39, "Home": 36, "End": 35, " ": 32}

LAUNCH = """
import fcntl, os, sys
ends = [fcntl.fcntl(int(end), fcntl.F_DUPFD, 10) for end in sys.argv[1:3]]
for place, end in zip((3, 4), ends):
    os.dup2(end, place)
os.execvp(sys.argv[3], sys.argv[3:])
"""
"""the browser reads from 3 and writes to 4"""


def installed() -> str | None:
    """Where a browser is, if there is one."""
    return next(filter(None, map(shutil.which, NAMES)), None)


class Browser:
    """One page at a time. What it asks the network for, and what it complains about, is noted."""

    def __init__(self, folder: Path):
        """`folder` is empty: for what the browser keeps of its user."""
        there, self._to = os.pipe()
        self._from, back = os.pipe()
        program = installed()
        assert program
        launched = [sys.executable, "-c", LAUNCH, str(there), str(back)]
        command = [*launched, program, *FLAGS, f"--user-data-dir={folder}", "about:blank"]
        quiet: Any = dict(stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.process = subprocess.Popen(command, pass_fds=(there, back), **quiet)
        os.close(there)
        os.close(back)
        self._number, self._rest, self._loaded = 0, b"", False
        self._session: str | None = None
        self.requests: list[str] = []
        self.complaints: list[str] = []
        target = next(each for each in self._call("Target.getTargets")["targetInfos"] if each["type"] == "page")
        self._session = self._call("Target.attachToTarget", targetId=target["targetId"], flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self._call(f"{domain}.enable")

    def _call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Ask for something, and wait for the answer."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._to, json.dumps(message).encode() + b"\0")
        while True:
            found = self._next()
            if found.get("id") == self._number:
                assert "error" not in found, found["error"]
                return found["result"]

    def _next(self) -> dict[str, Any]:
        while b"\0" not in self._rest:
            assert select.select([self._from], [], [], PATIENCE)[0], "the browser does not answer"
            more = os.read(self._from, 1 << 20)
            assert more, "the browser has ended"
            self._rest += more
        text, _, self._rest = self._rest.partition(b"\0")
        message = json.loads(text)
        self._note(message.get("method"), message.get("params", {}))
        return message

    def _note(self, event: str | None, about: dict[str, Any]) -> None:
        if event == "Page.loadEventFired":
            self._loaded = True
        elif event == "Network.requestWillBeSent":
            self.requests.append(about["request"]["url"])
        elif event == "Runtime.exceptionThrown":
            self.complaints.append(about["exceptionDetails"].get("exception", {}).get("description", str(about)))
        elif event == "Runtime.consoleAPICalled" and about["type"] in ("error", "warning"):
            self.complaints.append(str(about["args"]))
        elif event == "Log.entryAdded" and about["entry"]["level"] in ("error", "warning"):
            self.complaints.append(about["entry"]["text"])

    def open(
        self,
        path: Path,
        wide: int = 1200,
        high: int = 900,
        dark: bool = False,
        step: int | None = None,
        until: str = READY,
    ) -> None:
        """Show a file in a window of that size, and wait until it is ready."""
        self.resize(wide, high)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self._call("Emulation.setEmulatedMedia", features=[scheme])
        self.complaints = []
        self._navigate("about:blank")  # else another step of the same file would not load it anew
        self.requests = []
        self._navigate(path.resolve().as_uri() + (f"#{step}" if step else ""))
        self.wait(until)

    def _navigate(self, url: str) -> None:
        self._loaded = False
        self._call("Page.navigate", url=url)
        while not self._loaded:
            self._next()

    def evaluate(self, code: str) -> Any:
        """The value of an expression of the page, as plain data."""
        found = self._call("Runtime.evaluate", expression=code, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in found, found["exceptionDetails"]
        return found["result"].get("value")

    def wait(self, condition: str) -> None:
        """Until an expression is true, which the page looks at whenever it is about to draw."""
        self.evaluate(
            f"new Promise(done => {{ const look = () => ({condition}) ? done() : setTimeout(look, 5); look(); }})"
        )

    def press(self, key: str) -> None:
        text = {"text": key} if len(key) == 1 else {}
        for kind in ("keyDown", "keyUp"):
            of_down = text if kind == "keyDown" else {}
            self._call("Input.dispatchKeyEvent", type=kind, key=key, windowsVirtualKeyCode=KEYS[key], **of_down)

    def write(self, text: str) -> None:
        """Letters, one after the other, into what has the focus."""
        for letter in text:
            key = dict(key=letter, windowsVirtualKeyCode=ord(letter.upper()))
            self._call("Input.dispatchKeyEvent", type="keyDown", text=letter, **key)
            self._call("Input.dispatchKeyEvent", type="keyUp", **key)

    def click(self, selector: str, x: float = 0.5, y: float = 0.5) -> None:
        """Click within an element, at those shares of its width and height."""
        code = "(e => { e.scrollIntoView({block: 'center'}); const b = e.getBoundingClientRect(); "
        code += f"return [b.left + {x} * b.width, b.top + {y} * b.height] }})(document.querySelector({selector!r}))"
        left, top = self.evaluate(code)
        for kind in ("mousePressed", "mouseReleased"):
            self._call("Input.dispatchMouseEvent", type=kind, x=left, y=top, button="left", buttons=1, clickCount=1)

    def screenshot(self, whole: bool = False) -> bytes:
        """The window as PNG; with `whole` it is made as high as the page first."""
        if whole:
            self.resize(self._wide, self.evaluate("Math.ceil(document.body.getBoundingClientRect().height)"))
        return base64.b64decode(self._call("Page.captureScreenshot", format="png")["data"])

    def resize(self, wide: int, high: int) -> None:
        """A narrow window is a phone's."""
        self._wide, phone = wide, wide < 600
        self._call("Emulation.setDeviceMetricsOverride", width=wide, height=high, deviceScaleFactor=1, mobile=phone)

    def close(self) -> None:
        os.close(self._to)  # without anybody to talk to, it ends
        os.close(self._from)
        self.process.wait()
