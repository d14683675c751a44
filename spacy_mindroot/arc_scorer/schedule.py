"""The learning rate schedule spacy-mindroot.warmup_linear.v1, which is never 0."""

# No `from __future__ import annotations` in files with registered functions: spaCy evaluates their annotations.
from collections.abc import Iterator
from dataclasses import dataclass

from ..errors import MindRootError

__all__ = ["warmup_linear"]


def warmup_linear(
    initial_rate: float,
    warmup_steps: int,
    total_steps: int,
    start_factor: float = 0.1,
    end_factor: float = 0.01,
) -> Iterator[float]:
    """Return a learning rate for each step: a linear rise, a linear fall, and then a constant.

    thinc's `warmup_linear.v1` starts and ends at 0. `spacy train` steps the schedule after each update, but a loop
    around `nlp.update()` in Python usually does not: it stays at the first rate and, if that is 0, learns nothing. Here
    the first rate is large enough to learn from. Call `optimizer.step_schedules()` after each update to follow the
    schedule.

    initial_rate (float): The highest rate, reached after `warmup_steps`.
    warmup_steps (int): Number of steps of the rise.
    total_steps (int): Number of steps of rise and fall together. The rate is constant from then on.
    start_factor (float): The first rate, as a fraction of `initial_rate`; greater than 0, at most 1.
    end_factor (float): The last rate, likewise.
    RAISES (MindRootError): If a factor is out of range.
    """
    for name, factor in (("start_factor", start_factor), ("end_factor", end_factor)):
        if not 0 < factor <= 1:
            raise MindRootError(
                f"spacy-mindroot.warmup_linear.v1: {name} must be greater than 0 and at most 1, but found {factor}."
            )
    return _WarmupLinear(initial_rate, warmup_steps, total_steps, start_factor, end_factor)


@dataclass
class _WarmupLinear(Iterator[float]):  # not a generator, which would keep pipelines from being copied and pickled
    rate: float
    warmup_steps: int
    total_steps: int
    start: float
    end: float
    step: int = -1

    def __next__(self) -> float:
        self.step += 1
        if self.step < self.warmup_steps:
            return (self.start + (1 - self.start) * self.step / self.warmup_steps) * self.rate
        fall = (1 - self.end) * (self.step - self.warmup_steps) / max(1, self.total_steps - self.warmup_steps)
        return max(self.end, 1 - fall) * self.rate
