"""`rnar data export`: a set of samples as a file for NumPy."""

from pathlib import Path
from typing import Annotated, Any

import tyro

import rnar.clrs
from rnar.cli.distribution import Distribution
from rnar.cli.flags import flag
from rnar.cli.output import bar, screen
from rnar.clrs import Batch, Split, find, official
from rnar.clrs.layouts import Layout, arrays_of, write_npz
from rnar.common.files import appearing, free

SAMPLES, SEED = 32, 1


def export(
    task: Annotated[str, tyro.conf.arg(metavar="TASK")],
    out: Annotated[Path, tyro.conf.arg(metavar="OUT.npz")],
    /,
    split: Annotated[Split | None, flag("{train,val,test}")] = None,
    n: Annotated[int | None, flag("INT")] = None,
    samples: Annotated[int | None, flag("INT", str(SAMPLES))] = None,
    seed: Annotated[int | None, flag("INT", str(SEED))] = None,
    layout: Layout = "rnar",
    force: bool = False,
    distribution: Annotated[Distribution, tyro.conf.OmitArgPrefixes] = Distribution(),  # noqa: B008 (it is frozen)
) -> None:
    """Write an official set (--split), or a random one of your own (--n), to a file that `numpy.load` reads.

    Of a task of your own, --split gives a set that is drawn as the official ones are.

    Its arrays are input/NAME [B, ...], hint/NAME [T, B, ...], output/NAME [B, ...] and lengths [B].

    Args:
        task: Which task; `rnar data list` has them all.
        out: The file to write. It is there when it is complete, and not before.
        split: Which official set.
        n: The size of the problems of a set of your own.
        samples: How many samples your own set has.
        seed: The seed of your own set.
        layout: Values as what they are (indices, codes), or as dm-clrs has them (one-hots, all float32).
        force: Replace the file if there is one.
        distribution: What your own problems are drawn from. By default all is as in the official sets.
    """
    find(task)
    target = free(out, replace=force)
    batch = chosen(task, split, distribution.given(n=n, samples=samples, seed=seed))
    arrays = arrays_of(batch, layout)
    with bar(screen()) as progress, appearing(target) as file:
        work = progress.add_task(f"writing {out.name}", total=sum(array.bytes for array in arrays))
        write_npz(file, arrays, lambda size: progress.advance(work, size))
    about = f"{batch.size} samples of {task}, {batch.nodes} nodes, up to {batch.lengths.max()} steps"
    print(f"{out}: {about}, {target.stat().st_size / 1e6:.2f} MB")


def chosen(task: str, split: Split | None, own: dict[str, Any]) -> Batch:
    """The official set, or one drawn with `n`, `samples`, `seed` and the options of a distribution."""
    if split is not None:
        if own:
            raise ValueError(f"--{next(iter(own))} is for a set of your own and means nothing with --split {split}")
        return official(task, split)
    if "n" not in own:
        raise ValueError("which set? --split train, val or test is an official one, --n makes one of your own")
    settings = {"samples": SAMPLES, "seed": SEED, **own}
    return rnar.clrs.sample(task, batch=settings.pop("samples"), **settings)
