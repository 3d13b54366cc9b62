"""A schedule of the learning rate of one's own: up in the first tenth of training, and down to nothing after it.

    python examples/schedule.py                                # 200 steps of BFS, in a small network
    cd examples && rnar train bfs --schedule schedule:warmup   # the same on the command line

Prints the factor at the beginning, at a tenth, in the middle and at the end, and `warmup: ... after 200 steps`.
"""

import sys

import rnar

RISE = 0.1  # of training


def warmup(done):
    """The share of training that is done, from 0 to 1 -> by what the learning rate is multiplied."""
    return done / RISE if done < RISE else (1 - done) / (1 - RISE)


if __name__ == "__main__":
    steps = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    small = dict(size=32, batch=8, validation_samples=32, selection_samples=64, ood_samples=0, test_samples=8)
    print(*(f"{warmup(done):.2f}" for done in (0.0, RISE, 0.5, 1.0)))
    result = rnar.train(rnar.Settings("bfs", schedule=warmup, steps=steps, validate_every=steps // 4, **small))
    print(f"warmup: {result.score:.1%} after {result.steps} steps")
