"""Metrics: figures of turns and services for Prometheus.

They are counted in plain lists and dictionaries, which costs a turn a few microseconds, and are
converted to Prometheus' families only when they are read.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Final

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    Metric,
)
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4

from prolocutor.contracts.observer import BOUNDS, TurnRecord

CONTENT_TYPE: Final = CONTENT_TYPE_PLAIN_0_0_4

GaugeReader = Callable[[], float | Mapping[str, float]]


class Histogram:
    """Durations, counted in buckets."""

    __slots__ = ("counts", "total")

    def __init__(self) -> None:
        self.counts = [0] * (len(BOUNDS) + 1)
        self.total = 0.0

    def add(self, seconds: float) -> None:
        """Count a duration."""
        self.counts[bisect_left(BOUNDS, seconds)] += 1
        self.total += seconds

    def buckets(self) -> list[tuple[str, float]]:
        """Return the bounds and the cumulated counts of the buckets, as Prometheus needs them."""
        shown, number = [], 0
        for bound, count in zip((*map(str, BOUNDS), "+Inf"), self.counts, strict=True):
            number += count
            shown.append((bound, float(number)))
        return shown


class TurnMetrics:
    """An observer that counts; `text` returns the figures in Prometheus' format.

    Each instance has its own registry, so that the figures of two assistants in a process do not
    mix.
    """

    def __init__(self) -> None:
        self.registry = CollectorRegistry(auto_describe=False)
        self.registry.register(self)
        self._turns: Counter[tuple[str, str]] = Counter()
        self._turn_seconds = Histogram()
        self._outcomes: Counter[tuple[str, str, str, str]] = Counter()
        self._service_seconds: dict[tuple[str, str], Histogram] = {}
        self._faults: Counter[str] = Counter()
        self._costs: dict[str, float] = {}
        self._breakers: Counter[tuple[str, str]] = Counter()
        self._watched: dict[str, tuple[str, GaugeReader]] = {}

    def turn_ended(self, record: TurnRecord) -> None:
        """Count a turn and its services."""
        self._turns[record.by, record.channel] += 1
        self._turn_seconds.add(record.seconds)
        outcomes, seconds = self._outcomes, self._service_seconds
        for service in record.services:
            stage, name, started, ended = (
                service.stage,
                service.name,
                service.started,
                service.ended,
            )
            outcomes[stage, name, service.outcome, service.code or ""] += 1
            if started is None or ended is None:
                continue
            histogram = seconds.get((stage, name))
            if histogram is None:
                histogram = seconds[stage, name] = Histogram()
            histogram.add(ended - started)
        if record.cost:
            self._costs[record.channel] = self._costs.get(record.channel, 0.0) + record.cost
        for fault in record.faults:
            self._faults[fault["service"]] += 1

    def breaker_changed(self, service: str, state: str) -> None:
        """Count a breaker that opens or closes."""
        self._breakers[service, state] += 1

    def watch(self, name: str, text: str, read: GaugeReader) -> None:
        """Add a gauge with the current result of `read`: a number, or a number per service."""
        self._watched[name] = (text, read)

    def text(self) -> bytes:
        """Return all figures in Prometheus' text format."""
        return generate_latest(self.registry)

    def collect(self) -> Iterator[Metric]:
        """Yield all figures as Prometheus' families (the promise of its collectors)."""
        yield _counter(
            "prolocutor_turns",
            "Turns, by how their reply came about and the channel they came through",
            ("by", "channel"),
            self._turns.items(),
        )
        yield _counter(
            "prolocutor_service_outcomes",
            "What became of services in turns",
            ("stage", "service", "outcome", "code"),
            self._outcomes.items(),
        )
        yield _counter(
            "prolocutor_faults",
            "Warnings recorded in turns, by service",
            ("service",),
            (((service,), number) for service, number in self._faults.items()),
        )
        yield _counter(
            "prolocutor_breaker_changes",
            "How often a service's breaker came to be in a state",
            ("service", "state"),
            self._breakers.items(),
        )
        if self._costs:
            yield _counter(
                "prolocutor_cost",
                "What calls cost, by the channel of the turn",
                ("channel",),
                (((channel,), cost) for channel, cost in self._costs.items()),
            )
        turns = HistogramMetricFamily(
            "prolocutor_turn_seconds", "From a turn's start to its reply being stored"
        )
        turns.add_metric((), self._turn_seconds.buckets(), self._turn_seconds.total)
        yield turns
        services = HistogramMetricFamily(
            "prolocutor_service_seconds",
            "From a service's start to its outcome",
            labels=("stage", "service"),
        )
        for labels, histogram in self._service_seconds.items():
            services.add_metric(labels, histogram.buckets(), histogram.total)
        yield services
        for name, (text, read) in self._watched.items():
            yield _gauge(name, text, read())


def _counter(
    name: str,
    text: str,
    labels: tuple[str, ...],
    counts: Iterable[tuple[tuple[str, ...], float]],
) -> CounterMetricFamily:
    family = CounterMetricFamily(name, text, labels=labels)
    for values, number in counts:
        family.add_metric(values, number)
    return family


def _gauge(name: str, text: str, value: float | Mapping[str, float]) -> GaugeMetricFamily:
    if isinstance(value, Mapping):
        family = GaugeMetricFamily(name, text, labels=("service",))
        for service, number in value.items():
            family.add_metric((service,), number)
        return family
    return GaugeMetricFamily(name, text, value=value)
