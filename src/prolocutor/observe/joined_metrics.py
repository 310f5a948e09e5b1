"""The metrics of several assistants in one text, with a label that says whose each figure is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import GaugeMetricFamily, Metric

from prolocutor.observe.metrics import TurnMetrics

LABEL = "tenant"


def joined(metrics: Mapping[str, TurnMetrics | None]) -> bytes:
    """Return the figures of tenants in Prometheus' format; None for one that is not served now."""
    registry = CollectorRegistry(auto_describe=False)
    registry.register(_Joined(metrics))
    return generate_latest(registry)


class _Joined:
    """A collector of the figures of all tenants."""

    def __init__(self, metrics: Mapping[str, TurnMetrics | None]) -> None:
        self._metrics = metrics

    def collect(self) -> Iterator[Metric]:
        """Return each family once, with the figures of all tenants (a promise of Prometheus)."""
        served = GaugeMetricFamily(
            "prolocutor_tenant_served", "1 where a tenant is served, else 0", labels=(LABEL,)
        )
        families: dict[str, Metric] = {}
        for tenant, metrics in self._metrics.items():
            served.add_metric((tenant,), float(metrics is not None))
            for family in () if metrics is None else metrics.collect():
                whole = families.setdefault(
                    family.name, Metric(family.name, family.documentation, family.type)
                )
                whole.samples += [
                    each._replace(labels={LABEL: tenant, **each.labels}) for each in family.samples
                ]
        yield served
        yield from families.values()
