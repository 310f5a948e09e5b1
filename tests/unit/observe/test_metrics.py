"""Metrics as Prometheus reads them."""

from prometheus_client.parser import text_string_to_metric_families

from prolocutor.observe.metrics import TurnMetrics
from tests.unit.observe.records import record, service


def samples(metrics: TurnMetrics) -> dict[tuple[str, ...], float]:
    """Every figure by its name and the values of its labels, in the labels' order."""
    return {
        (sample.name, *(v for _, v in sorted(sample.labels.items()))): sample.value
        for family in text_string_to_metric_families(metrics.text().decode())
        for sample in family.samples
    }


def test_turns_are_counted_by_how_their_reply_came_about() -> None:
    metrics = TurnMetrics()
    for by in ("selector", "selector", "fallback"):
        metrics.turn_ended(record(by=by))

    shown = samples(metrics)

    assert shown["prolocutor_turns_total", "selector", "http_client"] == 2
    assert shown["prolocutor_turns_total", "fallback", "http_client"] == 1


def test_the_seconds_of_turns_fall_into_buckets() -> None:
    metrics = TurnMetrics()
    for seconds in (0.001, 0.02, 100.0):
        metrics.turn_ended(record(seconds=seconds))

    shown = samples(metrics)

    buckets = [
        shown["prolocutor_turn_seconds_bucket", b] for b in ("0.001", "0.01", "0.025", "+Inf")
    ]
    assert buckets == [1, 1, 2, 3]
    assert shown[("prolocutor_turn_seconds_count",)] == 3
    assert shown[("prolocutor_turn_seconds_sum",)] == 100.021


def test_what_became_of_services_is_counted() -> None:
    metrics = TurnMetrics()
    metrics.turn_ended(record(service(), service("slow", outcome="late", code="late")))
    metrics.turn_ended(record(service("slow", outcome="skipped", started=None, ended=None)))

    shown = samples(metrics)

    name = "prolocutor_service_outcomes_total"
    assert shown[name, "", "done", "skill", "skills"] == 1
    assert shown[name, "late", "late", "slow", "skills"] == 1
    assert shown[name, "", "skipped", "slow", "skills"] == 1
    assert shown["prolocutor_service_seconds_count", "slow", "skills"] == 1


def test_faults_and_breakers_are_counted() -> None:
    metrics = TurnMetrics()
    metrics.turn_ended(
        record(faults=[{"service": "a", "what": "x"}, {"service": "a", "what": "y"}])
    )
    metrics.breaker_changed("b", "open")

    shown = samples(metrics)

    assert shown["prolocutor_faults_total", "a"] == 2
    assert shown["prolocutor_breaker_changes_total", "b", "open"] == 1


def test_what_is_watched_is_looked_at_when_it_is_asked_for() -> None:
    metrics, strays, by_service = TurnMetrics(), [1, 2], {"a": 3.0}
    metrics.watch("strays", "Strays", lambda: len(strays))
    metrics.watch("places", "Places", lambda: by_service)
    strays.clear()
    by_service['a "b"\n'] = 4.0

    shown = samples(metrics)

    assert shown[("strays",)] == 0
    assert shown["places", "a"] == 3
    assert shown["places", 'a "b"\n'] == 4


def test_two_assistants_do_not_mix() -> None:
    one, other = TurnMetrics(), TurnMetrics()
    one.turn_ended(record())

    assert ("prolocutor_turns_total", "selector", "http_client") not in samples(other)
