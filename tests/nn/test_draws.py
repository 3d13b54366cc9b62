"""What is drawn at random: a stream of its own for each purpose and step."""

import itertools

import torch

from rnar.nn.draws import draws

PURPOSES = ("noise", "teacher", "processor", "batch")


def numbers(seed: int, purpose, t: int) -> torch.Tensor:
    return torch.rand(2000, generator=draws(seed, torch.device("cpu"), purpose, t))


def test_a_stream_is_the_same_each_time_it_is_opened():
    for purpose in PURPOSES:
        assert torch.equal(numbers(1, purpose, 3), numbers(1, purpose, 3))


def test_streams_of_different_purposes_steps_and_seeds_have_nothing_to_do_with_each_other():
    streams = [numbers(s, p, t) for s in (0, 1) for p in PURPOSES for t in (0, 1)]
    for one, other in itertools.combinations(streams, 2):
        correlation = torch.corrcoef(torch.stack([one, other]))[0, 1]
        assert abs(correlation) < 0.1  # four and a half standard deviations of independent streams
