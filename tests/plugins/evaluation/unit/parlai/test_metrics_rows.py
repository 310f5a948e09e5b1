"""Figures over the rows of a run."""

import pytest

from prolocutor.plugins.evaluation.parlai.metrics import estimate_share, measure_rows

ROWS = [
    {"seconds": 0.1, "cost": 0.5, "calls": 2, "text": "yes"},
    {"seconds": 0.3, "cost": 1.5, "calls": 3, "text": " "},
    {"seconds": 0.2, "cost": None, "calls": 4, "text": None, "error": None},
    {"seconds": 60.0, "cost": 9.0, "calls": 9, "text": None, "error": "late"},
]


def test_rows_give_latency_cost_calls_abstention_and_errors() -> None:
    figures = {name: estimate.value for name, estimate in measure_rows(ROWS).items()}

    assert figures == pytest.approx(
        {
            "latency": 0.2, "latency_p50": 0.2, "latency_p95": 0.3, "latency_p99": 0.3,
            "cost": 1.0, "calls": 3.0, "abstention": 2 / 3, "errors": 1 / 4,
        }
    )  # fmt: skip


def test_figures_have_intervals() -> None:
    figures = measure_rows(ROWS)

    assert figures["abstention"] == estimate_share(2, 3)
    assert figures["latency"].error == pytest.approx(0.1 / 3**0.5)
    assert figures["latency_p50"].low == 0.1


def test_what_no_row_knows_is_left_out() -> None:
    assert measure_rows([{"text": "yes"}]).keys() == {"abstention", "errors"}
    assert measure_rows([]) == {}


def test_quantiles_are_values_of_the_nearest_rank() -> None:
    figures = measure_rows({"seconds": float(number)} for number in range(1, 6001))

    assert [figures[f"latency_p{percent}"].value for percent in (50, 95, 99)] == [3000, 5700, 5940]
    assert figures["latency"].count == 6000
