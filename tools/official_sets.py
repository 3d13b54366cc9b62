"""Writes `src/rnar/clrs/official.json`, the facts `rnar data check` compares with, by running dm-clrs itself.

    PYTHON_WITH_DM_CLRS tools/official_sets.py OUT.json [TASK ...]

It needs dm-clrs 2.0.3, which is no dependency of the project: run it in an environment of its own.
A digest is the SHA-256 of a feature's float32 bytes, fed 32 samples at a time; each 32 hold as many
time steps as their own longest trajectory, so that no set has to be in memory as one dense array.
"""

import hashlib
import json
import pathlib
import sys

import numpy as np
from clrs._src import specs

import clrs

STRING_MATCHERS = ("naive_string_matcher", "kmp_matcher")
SPLITS = {"train": (1, 16, 1000), "val": (2, 16, 32), "test": (3, 64, 32)}  # seed, length, samples
BLOCK = 32


def facts(task: str, split: str) -> dict:
    """The number of samples, their mean and greatest number of steps, and `{"stage/name": sha256}`."""
    seed, length, samples = SPLITS[split]
    if split != "train":  # only validation and test are larger for the tasks with small outputs
        samples *= specs.CLRS_30_ALGS_SETTINGS[task]["num_samples_multiplier"]
    if task in STRING_MATCHERS:  # a haystack of `length`, and a needle of a quarter of it
        length = length * 5 // 4
    sampler, _ = clrs.build_sampler(task, seed=seed, num_samples=samples, length=length)
    data = sampler.next()
    lengths = np.asarray(data.features.lengths)
    hashes: dict = {}

    def feed(key: str, array: np.ndarray) -> None:
        bytes_ = np.ascontiguousarray(array, np.float32).tobytes()
        hashes.setdefault(key, hashlib.sha256()).update(bytes_)

    for start in range(0, samples, BLOCK):
        block = slice(start, start + BLOCK)
        steps = int(lengths[block].max())
        for point in data.features.inputs:
            feed(f"input/{point.name}", point.data[block])
        for point in data.features.hints:
            feed(f"hint/{point.name}", point.data[:steps, block])
        for point in data.outputs:
            feed(f"output/{point.name}", point.data[block])
        feed("lengths", lengths[block])
    return {
        "samples": samples,
        "mean_steps": round(float(lengths.mean()), 1),
        "most_steps": int(lengths.max()),
        "sha256": {key: value.hexdigest() for key, value in hashes.items()},
    }


def main() -> None:
    out = pathlib.Path(sys.argv[1])
    table = json.loads(out.read_text()) if out.exists() else {}
    for task in sys.argv[2:] or specs.CLRS_30_ALGS:
        for split in SPLITS:
            if split not in table.setdefault(task, {}):
                table[task][split] = facts(task, split)
                out.write_text(json.dumps(table, indent=1, sort_keys=True) + "\n")
                print(task, split, flush=True)


if __name__ == "__main__":
    main()
