"""A network's answer to one problem, beside the algorithm's."""

import math
from collections.abc import Sequence
from typing import Any

from rnar.clrs import Sample, find
from rnar.clrs.naming import classes, labels
from rnar.common.cached import cached_property
from rnar.common.checking import checked
from rnar.evaluation.beliefs import Belief, Wrong, is_judged
from rnar.inference.equivalence import equally_good
from rnar.inference.page import Line, Playback, playback
from rnar.inference.words import say
from rnar.inference.words.saying import percent


class Answer:
    """A network's answer to a problem. In a notebook it shows itself: all steps, as a page.

    Attributes:
        sample: The problem as it was given, solved by the algorithm.
        belief: What the network predicted at each step, in the numbers that it was given.
        notes: What a reader should know besides: how the problem differs from those of training.
        names: What the nodes are called, where they have names.
    """

    @checked
    def __init__(
        self,
        sample: Sample,
        belief: Belief,
        by: str = "",
        origin: str = "",
        notes: Sequence[str] = (),
        names: Sequence[str] = (),
    ):
        self.sample, self.belief, self.by, self.origin = sample, belief, by, origin
        self.notes, self.names = tuple(notes), tuple(names)

    @property
    def task(self) -> str:
        return self.sample.task

    @cached_property
    def network(self) -> str:
        """Its answer, in words of the problem."""
        return say(self.sample, self.belief.answers, self.names)

    @cached_property
    def algorithm(self) -> str:
        """The algorithm's answer, in the same words."""
        return say(self.sample, self.sample.outputs, self.names)

    @property
    def agrees(self) -> bool:
        """True if it equals the algorithm's answer in every entry."""
        return self.belief.agrees

    @cached_property
    def equally_good(self) -> str:
        """In which way it differs from the algorithm's answer and is as good; empty if it agrees or is wrong."""
        return "" if self.agrees else equally_good(self.sample, self.belief.answers)

    @property
    def right(self) -> bool:
        """True if it agrees with the algorithm's answer or is as good."""
        return self.agrees or bool(self.equally_good)

    @property
    def sure(self) -> float:
        """The probability that the network gave to its answer: the mean over the entries."""
        return self.belief.sure

    @property
    def first_wrong(self) -> Wrong | None:
        """The first hint that was wrong, and at which step; None if none was."""
        return self.belief.first_wrong

    @property
    def _judged(self) -> int:
        """The number of entries that are judged."""
        features, outputs = find(self.task).spec.outputs, self.sample.outputs
        return sum(int(is_judged(feature, outputs[name]).sum()) for name, feature in features.items())

    @property
    def agreement(self) -> str:
        """In words."""
        if self.agrees:
            return "yes"
        wrong = sum(int(x.sum()) for x in self.belief.wrong_outputs.values())
        count = "" if self._judged == 1 else f"{wrong} of {self._judged} entries differ"
        if self.equally_good:
            return f"right, {self.equally_good}" + (f" ({count})" if count else "")
        return f"no, {count}" if count else "no"

    @property
    def sureness(self) -> str:
        """In words."""
        if math.isnan(self.sure):
            return "it does not say"
        least = f" on average, {percent(self.belief.least_sure)} where least sure" if self._judged != 1 else ""
        return percent(self.sure) + least

    @property
    def hints(self) -> str:
        """The first wrong hint and the share that is right, in words."""
        steps, wrong = self.sample.steps - 1, self.first_wrong
        if not self.belief.hints:
            return "this network predicts none"
        if steps < 1:
            return "there was no step to predict"
        told = f"{steps} steps" if steps > 1 else "its only step"
        right = f"{percent(self.belief.hints_right)} of all are right"
        if wrong is not None:
            return f"first wrong at step {wrong.step} of {steps}: {wrong.hint}{self._entries(wrong)}; {right}"
        if any(entries.any() for entries in self.belief.wrong_hints.values()):  # numbers, which are not decided
            return f"all decisions right in {told}, not all numbers; {right}"
        return f"all right in {told}"

    def _entries(self, wrong: Wrong) -> str:
        """The wrong entry and the right one, or how many of many are wrong."""
        feature, truth = find(self.task).spec.hints[wrong.hint], self.sample.hints[wrong.hint][wrong.step]
        if truth.ndim:
            return f" ({wrong.entries} of {is_judged(feature, truth).sum()} entries)"
        nodes = self.names or labels(self.sample)
        names = nodes if feature.kind == "mask_one" else classes(self.task, wrong.hint, feature)
        decided = self.belief.hints[wrong.hint].decided[wrong.step - 1]
        return f" is {names[int(decided)]} and should be {names[int(truth)]}"

    def plain(self) -> dict[str, Any]:
        """All of it as plain data, as a line of JSON has it."""
        wrong = self.first_wrong
        return {
            "task": self.task,
            "nodes": self.sample.nodes,
            "steps": self.sample.steps,
            "network": self.network,
            "algorithm": self.algorithm,
            "agrees": self.agrees,
            "right": self.right,
            "equally_good": self.equally_good or None,
            "score": self.belief.score,
            "sure": None if math.isnan(self.sure) else round(self.sure, 4),
            "hints": self.hints,
            "first_wrong": wrong and {"step": wrong.step, "hint": wrong.hint, "entries": wrong.entries},
            "hints_right": round(self.belief.hints_right, 4),
            "outputs": {name: x.tolist() for name, x in self.belief.answers.items()},
            "true_outputs": {name: x.tolist() for name, x in self.sample.outputs.items()},
            "names": list(self.names) or None,
            "notes": list(self.notes),
        }

    def lines(self) -> list[Line]:
        """All of it in words, line by line."""
        wrong = self.first_wrong
        return [
            Line("network", self.network, "right" if self.right else "wrong"),
            Line("algorithm", self.algorithm),
            Line("agrees", self.agreement),
            Line("sure", self.sureness),
            Line("hints", self.hints, step=wrong.step if wrong else None),
            *(Line("notes", note) for note in self.notes),
        ]

    def view(self) -> Playback:
        """All steps as a page, which can be saved."""
        about = described(self.sample, self.origin, self.by)
        return playback(self.belief.sample, self.belief, about, self.lines(), self.sample, self.names)

    def _repr_html_(self) -> str:
        return self.view()._repr_html_()

    def __str__(self) -> str:
        width = max(len(line.term) for line in self.lines())
        return "\n".join(f"{line.term:{width}}  {line.text}" for line in self.lines())

    def __repr__(self) -> str:
        return f"<{self.task}: {self.network}; {'right' if self.right else f'truly {self.algorithm}'}>"


def described(sample: Sample, origin: str, by: str = "") -> str:
    """The problem, where it comes from and which network answered, in one line."""
    chapter = find(sample.task).chapter
    return "; ".join(filter(None, [f"{chapter}: {sample.nodes} nodes, {sample.steps} steps", origin, by]))
