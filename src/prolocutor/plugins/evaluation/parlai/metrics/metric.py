"""Metrics: numbers that can be added over parts of the data and reported.

The classes and their arithmetic are ParlAI 1.7.2's (`parlai.core.metrics`), so that teachers
written for ParlAI work: `None + metric` is the metric, metrics compare with numbers, and a sum has
the class of its left operand.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Iterable
from functools import total_ordering
from typing import Any, Self

Number = int | float


class MetricFault(TypeError, AssertionError):
    """A metric of the wrong parts; also an `AssertionError`, which ParlAI raises there."""


@total_ordering
class Metric(ABC):
    """One figure of a report; two metrics of a kind add up to the figure over both parts."""

    __slots__ = ()

    @property
    def is_global(self) -> bool:
        """Whether the metric belongs to the whole run, so that the first task's figure counts for
        all.
        """
        return False

    @property
    def macro_average(self) -> bool:
        """Whether the figure over several tasks is the mean of theirs."""
        return False

    @abstractmethod
    def value(self) -> Number:
        """Return the figure."""

    @abstractmethod
    def __add__(self, other: Any) -> Metric:
        """Return the metric over both parts; `other` may be None."""

    def standard_error(self) -> float | None:
        """Return the standard error of the figure; None if undefined or of too few observations."""
        return None

    def __radd__(self, other: Any) -> Metric:
        return self if other is None else self + other

    def __iadd__(self, other: Any) -> Metric:
        return self.__radd__(other)

    def __str__(self) -> str:
        return f"{self.value():.4g}"

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.value():.4g})"

    def __float__(self) -> float:
        return float(self.value())

    def __int__(self) -> int:
        return int(self.value())

    def __eq__(self, other: object) -> bool:
        return self.value() == (other.value() if isinstance(other, Metric) else other)

    def __lt__(self, other: Any) -> bool:
        return bool(self.value() < (other.value() if isinstance(other, Metric) else other))

    def __sub__(self, other: Any) -> float:
        if not isinstance(other, float):
            raise TypeError("only a float can be subtracted from a metric")
        return self.value() - other

    def __rsub__(self, other: Any) -> float:
        if not isinstance(other, float):
            raise TypeError("a metric can only be subtracted from a float")
        return other - self.value()

    @classmethod
    def as_number(cls, given: Any) -> Number:
        """Return `given` as int or float; a scalar of torch or numpy is unpacked.

        Raise `MetricFault` for anything else.
        """
        number = given if isinstance(given, int | float) else _unpack(given)
        if not isinstance(number, int | float):
            raise MetricFault(f"a metric is made of numbers, not of {type(given).__name__}")
        return number

    @classmethod
    def as_float(cls, given: Any) -> float:
        """Return `given` as float."""
        return float(cls.as_number(given))

    @classmethod
    def as_int(cls, given: Any) -> int:
        """Return `given` as int."""
        return int(cls.as_number(given))

    @classmethod
    def many(cls, *parts: Iterable[Any]) -> list[Self]:
        """Make a metric of each row of `parts`: all numerators, all denominators and so on."""
        lists = [list(part.tolist() if hasattr(part, "tolist") else part) for part in parts]
        if len({len(one) for one in lists}) > 1:
            raise IndexError(f"parts of {cls.__name__} of lengths {[len(one) for one in lists]}")
        return [cls(*row) for row in zip(*lists, strict=True)]

    @classmethod
    def from_mask(cls, metric_per_token: Any, mask: Any) -> list[Self]:
        """Make a metric of each example: the sum of its tokens' values over their number.

        Both are tensors, arrays or lists of examples x tokens; a token counts where `mask` is true.
        """
        values, kept = _rows(metric_per_token), _rows(mask)
        sums = [
            sum(value * one for value, one in zip(row, marks, strict=True))
            for row, marks in zip(values, kept, strict=True)
        ]
        return cls.many(sums, [sum(map(int, marks)) for marks in kept])


class FixedMetric(Metric):
    """A figure equal in all parts; adding another value raises `ValueError`."""

    __slots__ = ("_value",)

    def __init__(self, value: Any) -> None:
        self._value = self.as_number(value)

    def __add__(self, other: Any) -> FixedMetric:
        if other is not None and self != other:
            raise ValueError(f"{type(self).__name__} that differ: {self} and {other}")
        return self

    def value(self) -> Number:
        return self._value


class SumMetric(Metric):
    """A sum, such as the number of examples."""

    __slots__ = ("_sum",)

    def __init__(self, sum_: Any = 0) -> None:
        self._sum = self.as_number(sum_)

    def __add__(self, other: Any) -> SumMetric:
        return self if other is None else type(self)(sum_=self._sum + other._sum)

    def value(self) -> Number:
        return self._sum


class TimerMetric(Metric):
    """A rate per second: a count over the time from its first to its last increment."""

    __slots__ = ("_end", "_start", "_value")

    def __init__(
        self, value: Any, start_time: float | None = None, end_time: float | None = None
    ) -> None:
        self._value = self.as_number(value)
        self._start = time.time() if start_time is None else start_time
        self._end = time.time() if end_time is None else end_time

    def __add__(self, other: Any) -> TimerMetric:
        if other is None:
            return self
        return type(self)(
            self._value + other._value, min(self._start, other._start), max(self._end, other._end)
        )

    def value(self) -> Number:
        if self._value == 0 or self._end == self._start:
            return 0
        return self._value / (self._end - self._start)


class GlobalMetric:
    """Mixed in: a figure of the whole run, of which the first task's is taken."""

    __slots__ = ()

    @property
    def is_global(self) -> bool:
        """Whether it belongs to the whole run: always."""
        return True


class GlobalFixedMetric(GlobalMetric, FixedMetric):
    """A fixed figure of the whole run."""

    __slots__ = ()


class GlobalSumMetric(GlobalMetric, SumMetric):
    """A sum over the whole run."""

    __slots__ = ()


class GlobalTimerMetric(GlobalMetric, TimerMetric):
    """Something a second over the whole run."""

    __slots__ = ()


def _rows(given: Any) -> list[list[Any]]:
    rows = given.tolist() if hasattr(given, "tolist") else given
    return [row.tolist() if hasattr(row, "tolist") else list(row) for row in rows]


def _unpack(given: Any) -> Any:
    """Return the single value of a tensor, array or scalar of torch or numpy."""
    return given.item() if hasattr(given, "item") else given
