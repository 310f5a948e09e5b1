"""Plots: what is drawn where."""

import re
from xml.etree import ElementTree

import pytest

from prolocutor.plugins.evaluation.parlai.metrics.estimates import Estimate
from prolocutor.plugins.evaluation.plots import bar_plot, histogram, interval_plot


@pytest.mark.parametrize(
    "values",
    [[0.0], [1.0, 1.0], [0.0, 1.0], [-5.0, 3e9], [1e-6, 2e-6], [7.3] * 4, [0.1, float("nan")]],
)
def test_a_histogram_counts_every_value_once(values: list[float]) -> None:
    drawn = histogram(values, "values")

    counts = [int(count.replace(",", "")) for count in re.findall(r": ([\d,]+)</title>", drawn)]
    assert sum(counts) == len([value for value in values if value == value])
    assert len(counts) <= 22


def test_drawings_are_well_formed_whatever_the_names() -> None:
    names = ["<b>", "a & b", '"quoted"', "x" * 500]

    for drawn in (
        interval_plot({name: Estimate(0.5, 0.1, 0.4, 0.6, 9) for name in names}, "<title>"),
        bar_plot(dict.fromkeys(names, 3), "<title>"),
    ):
        assert len(ElementTree.fromstring(drawn).findall(".//text")) >= len(names)


def test_nothing_is_drawn_of_nothing() -> None:
    assert (interval_plot({}, "t"), histogram([], "t"), bar_plot({}, "t")) == ("", "", "")
