"""The command line. Each command is a function, named in COMMANDS; tyro makes its flags of the function's signature.

To add a command, add a line to COMMANDS. Its module is imported when the command is used and not before: so
`rnar --help` is quick, and `rnar data ...` never waits for torch.
"""

import functools
import importlib
import io
import os
import re
import signal
import sys
import traceback
from collections.abc import Callable, Sequence
from contextlib import redirect_stderr, redirect_stdout, suppress
from typing import Any, NamedTuple, NoReturn

from rnar.common.blame import place_of
from rnar.common.escaping import printable
from rnar.common.names import nearest


class Command(NamedTuple):
    function: str
    """`module:name`"""
    summary: str


COMMANDS = {
    "data list": Command("rnar.cli.data:list_tasks", "the 30 tasks: their features and how long they take"),
    "data show": Command("rnar.cli.data:show", "one run of an algorithm, step by step"),
    "data export": Command("rnar.cli.data:export", "write an official set, or one of your own, to a file"),
    "data check": Command("rnar.cli.data:check", "regenerate the official sets and compare their digests"),
    "train": Command("rnar.cli.train:train", "learn a task, or several; go on where a run ended"),
    "sweep": Command("rnar.cli.sweep:sweep", "many runs: tasks x models x seeds, here or on a Ray cluster"),
    "evaluate": Command("rnar.cli.evaluate:evaluate", "how good the networks of runs are, at any size"),
    "compare": Command(
        "rnar.cli.compare:compare", "two networks on the same samples: the difference, with its interval"
    ),
    "networks": Command("rnar.cli.networks:networks", "the networks that ship: what they know, and how well"),
    "solve": Command("rnar.cli.solve:solve", "let a network solve a problem of your own"),
    "view": Command("rnar.cli.view:view", "a run step by step, as a page: the algorithm, and what a network believed"),
    "report": Command("rnar.cli.report:report", "runs in tables and figures, beside the paper's numbers"),
    "models": Command("rnar.cli.models:models", "the models: what each computes, whose it is, where it differs"),
    "bench": Command("rnar.cli.bench:bench", "how fast a network is on this machine, and against dm-clrs"),
    "completion": Command("rnar.cli.completion:completion", "a script that lets your shell complete all this"),
}

RENAMED_FLAGS = {"--wider-n": "--ood-n", "--wider-samples": "--ood-samples", "--anyway": "--allow-code-change"}
"""flags by their names of before, which go on working for another release"""
OTHER_FLAGS = {"--epochs": "--steps", "--iterations": "--steps", "--hidden-size": "--size", "--hidden-dim": "--size"}
"""what flags are called elsewhere"""

INTERRUPTED, TERMINATED = 130, 143  # as shells count: 128 + the number of the signal
PIPE_CLOSED = 1  # as rich ends when it is first to notice


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return the exit code. What a user can do wrong ends as one line on stderr and code 2.

    `--traceback`, anywhere, shows all of an error before that line.
    """
    words = sys.argv[1:] if argv is None else list(argv)
    with suppress(ValueError):  # not the main thread, which alone has signals
        signal.signal(signal.SIGTERM, _terminate)
    try:
        code = _run([word for word in words if word != "--traceback"])
        if sys.stdout:
            sys.stdout.flush()  # here, where a failure can be told
        return code
    except (Exception, KeyboardInterrupt, SystemExit) as error:
        if "--traceback" in words and isinstance(error, Exception):
            traceback.print_exc()
        return _code_of(error)


def _terminate(*_: object) -> NoReturn:
    """Let SIGTERM end the command as an exception does, so that it cleans up behind itself."""
    raise SystemExit(TERMINATED)


def _code_of(error: BaseException) -> int:
    """Tell an error in one line and return the exit code. A mistake of this package is raised again."""
    place = place_of(error)
    match error:
        case SystemExit():
            if place:
                return _complain(f"{place}: your code ends the program")
            return error.code if isinstance(error.code, int) else int(error.code is not None)
        case KeyboardInterrupt():
            return _complain("interrupted", INTERRUPTED)
        case BrokenPipeError():  # `rnar data list | head -1`
            _give_up_stdout()
            return PIPE_CLOSED
        case OSError():
            _give_up_stdout()  # the disk may be full under it
            return _complain(f"{error.filename or ''}: {error.strerror or error}".removeprefix(": "))
        case MemoryError():
            return _complain(f"out of memory: {error}".removesuffix(": "))
        case RuntimeError() if "allocate memory" in str(error) or "out of memory" in str(error):  # torch's
            return _complain(f"out of memory: {str(error).splitlines()[0].rpartition('Allocator: ')[2]}")
        case ValueError() | OverflowError():
            return _complain(f"{place}: {error}".removeprefix(": "))
    if not place:
        raise error
    return _complain(f"{place}: {type(error).__name__}: {error}; --traceback shows all of it")


def _complain(message: str, code: int = 2) -> int:
    print("rnar: " + printable(message), file=sys.stderr)
    return code


def _give_up_stdout() -> None:
    """Keep Python from writing to stdout again when it exits, if nothing can be written there any more."""
    try:
        if sys.stdout:
            sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _run(argv: list[str]) -> int:
    if argv[:1] in (["--version"], ["-V"]):
        from importlib.metadata import version

        print(f"rnar {version('rnar')}")
        return 0
    for words in (2, 1):
        name = " ".join(argv[:words])
        if name in COMMANDS:
            return _parse(name, argv[words:])() or 0
    group = argv[0] if argv and _commands_of(argv[0]) else ""
    rest = argv[1:] if group else argv
    if rest and rest[0] not in ("-h", "--help"):
        unknown = " ".join(word for word in argv[:2] if not word.startswith("-")) or argv[0]
        raise ValueError(f"no command {unknown!r}{nearest(unknown, COMMANDS)}; there are {', '.join(COMMANDS)}")
    print(_overview(group), file=sys.stdout if rest else sys.stderr)
    return 0 if rest else 2


def _commands_of(group: str) -> dict[str, Command]:
    return {name: command for name, command in COMMANDS.items() if name.startswith(f"{group} ".lstrip())}


def _overview(group: str) -> str:
    """The help of `rnar`, or of a group of commands."""
    commands = _commands_of(group)
    width = max(map(len, commands))
    lines = [f"  {name:{width}}  {command.summary}" for name, command in commands.items()]
    usage = f"usage: rnar {group} COMMAND ...".replace("  ", " ")
    more = "`rnar COMMAND --help` has the flags of a command. With --traceback, all of an error is shown."
    return "\n".join([usage, "", *lines, "", more])


def function_of(name: str) -> Callable[..., int | None]:
    """The function of a command."""
    module, attribute = COMMANDS[name].function.split(":")
    return getattr(importlib.import_module(module), attribute)


def _parse(name: str, arguments: list[str]) -> Callable[[], int | None]:
    """A command with its arguments, ready to be called: so errors of parsing and errors of the command stay apart."""
    import tyro

    function = function_of(name)
    arguments = _renamed(arguments)

    @functools.wraps(function)
    def later(*args: Any, **named: Any) -> Callable[[], int | None]:
        return functools.partial(function, *args, **named)

    box = io.StringIO()
    try:
        with redirect_stderr(box):
            call, unknown = tyro.cli(later, prog=f"rnar {name}", args=arguments, return_unknown_args=True)
    except SystemExit as end:
        if end.code:
            raise ValueError(f"{_first_words(box.getvalue())}; see rnar {name} --help") from None
        raise
    if unknown:
        page = io.StringIO()
        with redirect_stdout(page), suppress(SystemExit):
            tyro.cli(later, args=["--help"])
        flags = set(re.findall(r"--[a-z][a-z-]*", page.getvalue()))
        raise ValueError(f"rnar {name} does not know {unknown[0]!r}{_meant(name, unknown[0], flags)}; see its --help")
    return call


def _renamed(arguments: list[str]) -> list[str]:
    """The same arguments by the names of now; each name of before is told."""
    words = []
    for k, word in enumerate(arguments):
        flag, equals, value = word.partition("=")
        flag = RENAMED_FLAGS.get(flag.replace("_", "-"), flag)
        if word == "wider" and arguments[k - 1 : k] == ["--figure"]:
            flag = "ood"
        if flag != word.partition("=")[0]:
            print(f"rnar: {word.partition('=')[0]} is called {flag} now", file=sys.stderr)
        words.append(flag + equals + value)
    return words


def _meant(command: str, flag: str, flags: set[str]) -> str:
    """What was perhaps meant by a flag that a command does not know."""
    if flag == "--task" and "--tasks" not in flags:
        return f"; a task is named without a flag, as in rnar {command} bfs"
    right = OTHER_FLAGS.get(flag, "")
    return f"; say {right}" if right in flags else nearest(flag, flags)


def _first_words(box: str) -> str:
    """What tyro's box of an error says first, in one line: its public interface does not tell the message."""
    said = box.partition("\n")[2].lstrip("-| \n")  # below the border, which is ASCII in some terminals
    lines = [line.strip("│╰╯|") for line in re.split(r"\n\W+\n", said)[0].splitlines()]
    words = [line.strip() for line in lines if not line.startswith(" " * 9)]  # help texts are indented
    text = " ".join(words).rstrip(".").replace("{None}|", "") or "the arguments make no sense"
    return re.sub(r"one of \(([^)]*)\)", _choices, text)


def _choices(listed: re.Match[str]) -> str:
    """Choices in the order of the alphabet, and without None, which is what leaving a flag away gives."""
    choices = set(re.findall(r"'([^']*)'", listed[1])) - {"None"}
    return f"one of {', '.join(sorted(choices))}"
