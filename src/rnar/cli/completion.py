"""`rnar completion`: a script that lets a shell complete commands and flags."""

import io
from collections.abc import Callable
from contextlib import redirect_stdout, suppress
from typing import Annotated, Any, Literal, Union

import tyro

Shell = Literal["bash", "zsh"]


def completion(shell: Annotated[Shell, tyro.conf.Positional]) -> None:
    """Print a script that lets a shell complete commands and flags.

    For bash: rnar completion bash > ~/.local/share/bash-completion/completions/rnar

    Args:
        shell: Which shell.
    """
    print(script(shell), end="")


def script(shell: Shell) -> str:
    """As tyro makes it, of all commands as one."""
    from rnar.cli.main import COMMANDS, function_of

    groups: dict[str, dict[str, Callable[..., Any]]] = {}
    for name in COMMANDS:
        group, _, last = name.rpartition(" ")
        groups.setdefault(group, {})[last] = function_of(name)
    top = groups.pop("")
    for name, commands in groups.items():
        top[name] = _choosing(commands)
    text = io.StringIO()
    with redirect_stdout(text), suppress(SystemExit):
        tyro.cli(_choosing(top), prog="rnar", args=["--tyro-print-completion", shell])
    return text.getvalue().lstrip()


def _choosing(commands: dict[str, Callable[..., Any]]) -> Callable[..., Any]:
    """A function whose argument is one of these commands, as tyro understands it."""
    kinds = tuple(
        Annotated[Any, tyro.conf.subcommand(name, constructor=command, prefix_name=False)]
        for name, command in commands.items()
    )

    def choose(command: Any) -> None: ...

    choose.__annotations__["command"] = Annotated[Union[kinds], tyro.conf.OmitArgPrefixes]  # noqa: UP007 (of a tuple)
    return choose
