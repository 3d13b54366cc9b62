"""Trains an RNAR-MPNN of dm-clrs by its own protocol, and scores it at n = 64 along the way: the control of our runs.

Runs in a Python that has dm-clrs (pip install dm-clrs==2.0.3), not rnar:

    python benchmarks/train_dm_clrs.py insertion_sort --seed 0 --steps 3000 --out control.jsonl

It writes a line for each validation: the step, the loss, the scores at n = 16 and n = 64 (of the first samples of the
official test set). The same of ours: rnar train insertion_sort --model rnar-mpnn --validate-every 100 --ood-n 64
"""

import argparse
import importlib.util
import json
import time
from pathlib import Path

import jax  # pyright: ignore[reportMissingImports]
import numpy as np

import clrs  # pyright: ignore[reportMissingImports]

here = Path(__file__).resolve().parent
source = importlib.util.spec_from_file_location(
    "dm_clrs_step", here.parent / "src" / "rnar" / "benchmark" / "dm_clrs_step.py"
)
assert source is not None and source.loader is not None
dm_clrs_step = importlib.util.module_from_spec(source)
source.loader.exec_module(dm_clrs_step)

SIZES = (4, 7, 11, 13, 16)


def batches(task, seed, length, batch, random_positions, samples=-1, **options):
    sampler, spec = clrs.build_sampler(task, num_samples=samples, seed=seed, length=length, **options)
    endless = iter(lambda: sampler.next(batch), None)
    if random_positions:
        endless = clrs.process_random_pos(endless, np.random.RandomState(seed))
    return clrs.process_permutations(spec, endless, enforce_permutations=True)


def score(model, key, batch):
    outputs, _ = model.predict(key, batch.features)
    return float(clrs.evaluate(batch.outputs, outputs)["score"])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("task")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--steps", type=int, default=10000)
    parser.add_argument("--every", type=int, default=100, help="steps between validations")
    parser.add_argument("--samples", type=int, default=32, help="samples of the official test set")
    parser.add_argument("--aggregator", choices=("lstm", "gru", "max"), default="lstm")
    parser.add_argument("--triplets", action="store_true")
    parser.add_argument("--gate", action="store_true")
    parser.add_argument("--out", type=Path, required=True)
    args = parser.parse_args()

    p = tuple(0.1 * k for k in range(1, 10))
    training = []
    for k, size in enumerate(SIZES):
        spec, stream = batches(args.task, 100 * args.seed + k + 1000, size, 32, True, p=p, length_needle=-8)
        training.append(stream)
    spec, stream = batches(args.task, 2, 16, 128, True)
    validation = next(stream)
    test = next(batches(args.task, 3, 64, args.samples, False)[1])
    setting = {"aggregator": args.aggregator, "along_edges": False, "triplets": args.triplets, "gate": args.gate}
    model = clrs.models.BaselineModel(  # pyright: ignore[reportAttributeAccessIssue]
        spec=[spec],
        dummy_trajectory=[next(training[0])],
        processor_factory=lambda size: dm_clrs_step.processor(clrs, size, setting),
        hidden_dim=128,
        encode_hints=True,
        decode_hints=True,
        encoder_init="xavier_on_scalars",
        use_lstm=False,
        learning_rate=1e-3,
        grad_clip_max_norm=1.0,
    )
    model.init([next(stream).features for stream in training[:1]], args.seed + 1)
    key, start, losses = jax.random.PRNGKey(args.seed), time.time(), []
    with args.out.open("a") as out:
        for step in range(1, args.steps + 1):
            key, own = jax.random.split(key)
            losses.append(float(model.feedback(own, next(training[(step - 1) % len(SIZES)]), 0)))
            if step % args.every == 0:
                row = {
                    "step": step,
                    "loss": float(np.mean(losses)),
                    "n=16": score(model, key, validation),
                    "n=64": score(model, key, test),
                    "seconds": time.time() - start,
                }
                print(json.dumps(row), file=out, flush=True)
                losses = []


if __name__ == "__main__":
    main()
