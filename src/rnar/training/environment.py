"""What a run was computed with: versions, code, device."""

import platform
import subprocess
from dataclasses import fields
from importlib.metadata import version
from pathlib import Path
from typing import Any

import torch

from rnar.common.fingerprint import digest, fingerprint
from rnar.models import Model, is_ours
from rnar.models import find as find_model
from rnar.training import schedules
from rnar.training.settings import Device, Settings

WORDS = ("paper", "equation", "differs")  # of a model: what is said about it


def versions() -> dict[str, Any]:
    """Of all that numbers may depend on; the commit, if this is a checkout of the sources."""
    packages = {name: version(name) for name in ("torch", "numpy", "numba", "rnar")}
    return {"python": platform.python_version(), **packages, "commit": commit()}


def own_code(settings: Settings) -> dict[str, str]:
    """The digests of a user's own files that decide a run: those of its model, tasks and schedule. Of a model of the
    user's, which may have been made at a prompt, also that of its settings."""
    model = settings.model if isinstance(settings.model, Model) else find_model(settings.model)
    modules = [name.partition(":")[0] for name in (*settings.tasks, settings.name) if ":" in name]
    if schedules.name_of(settings.schedule) not in schedules.SCHEDULES:
        modules.append(schedules.find(settings.schedule).__module__)
    if is_ours(model):
        return fingerprint(modules)
    network = model.build(settings.tasks, settings.size)
    modules += [model.processor.__module__, *(type(part).__module__ for part in network.modules())]
    given = {x.name: getattr(model, x.name) for x in fields(model) if x.name not in WORDS}
    unusual = {name: x for name, x in given.items() if not callable(x) and x != getattr(Model, name, None)}
    return {**fingerprint(modules), "the model's settings": digest(repr(unusual).encode())}


def commit() -> str | None:
    """The commit that is checked out, with -dirty where files were changed; None if these sources are in none."""
    here = Path(__file__)

    def git(*words: str) -> str:
        command = ["git", "-C", str(here.parent), *words]
        return subprocess.run(command, capture_output=True, text=True, check=True, timeout=10).stdout.strip()

    try:
        git("ls-files", "--error-unmatch", here.name)  # or it is the checkout of something else around us
        return git("describe", "--always", "--dirty", "--abbrev=40", "--exclude=*")
    except (OSError, subprocess.SubprocessError):
        return None


def chosen_device(name: Device, number: int = 0) -> torch.device:
    """The device of that name; of several GPUs, that number."""
    here = {"cpu": True, "cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available()}
    if name == "auto":
        name = "cuda" if here["cuda"] else "mps" if here["mps"] else "cpu"
    if name not in here:
        raise ValueError(f"no device {name!r}; choose from auto, {', '.join(here)}")
    if not here[name]:
        raise ValueError(f"there is no device {name!r} here; there is {', '.join(k for k in here if here[k])}")
    if name == "cuda" and number >= torch.cuda.device_count():
        raise ValueError(f"there are {torch.cuda.device_count()} GPUs here, and no number {number}")
    return torch.device(name, number) if name == "cuda" else torch.device(name)


def has_bfloat16(device: torch.device) -> bool:
    """True if there are instructions for products in bfloat16, or if that is not told, as on CPUs that are not x86."""
    known = getattr(torch.cpu, "get_capabilities", dict)() if device.type == "cpu" else {}
    return known.get("architecture") != "x86_64" or known["avx512_bf16"] or known["amx_bf16"]
