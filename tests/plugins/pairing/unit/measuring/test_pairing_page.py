"""The page of pairing: all of it there, and nothing that was said is read as HTML."""

import asyncio
import re

import msgspec

from prolocutor.contracts.pairing import LabelledQuestion
from prolocutor.plugins.evaluation.html_report import share_matrix
from prolocutor.plugins.evaluation.plots import line_plot
from prolocutor.plugins.pairing.measuring.learning_curve import curve_of
from prolocutor.plugins.pairing.measuring.measurement import MeasurementPlan, measure
from prolocutor.plugins.pairing.measuring.pairing_page import page_of
from tests.plugins.pairing.unit.measuring.made import data

EVIL = "<script>alert(1)</script>\ud800"


def evil(one: LabelledQuestion) -> LabelledQuestion:
    question = msgspec.structs.replace(one.question, text=EVIL + one.question.text)
    answers = {name: EVIL + text for name, text in one.answers.items()}
    return msgspec.structs.replace(one, question=question, answers=answers, domain=EVIL)


def page() -> str:
    questions = data(30, 60)
    questions = msgspec.structs.replace(
        questions, name=EVIL, test=[evil(one) for one in questions.test]
    )
    plan = MeasurementPlan(routers=["cards"], rankers=["unsupervised"], budgets=["top:1"])
    found = asyncio.run(measure(questions, plan))
    return page_of(found, asyncio.run(curve_of(questions, plan)))


def test_the_page_shows_figures_drawings_agents_and_errors() -> None:
    found = page()

    for told in (
        "everybody, first answer", "unsupervised, top:1", "Right, against calls",
        "Right, against labels", "Reliability", "surest share", "Who is right together",
        "Who is chosen by", "Errors of", "By domain",
    ):  # fmt: skip
        assert told in found


def test_nothing_that_was_said_is_read_as_html() -> None:
    found = page()

    assert "<script" not in found
    assert "&lt;script&gt;alert(1)" in found
    assert re.search(r"default-src 'none'; style-src 'sha256-[^']+'\"", found)
    found.encode("utf-8")


def test_a_drawing_without_points_is_none() -> None:
    assert line_plot({"a": []}, "t", "x") == ""
    assert "a &lt;b&gt;" in line_plot({"a <b>": [(1.0, 0.5)]}, "t", "x", logarithmic=True)


def test_cells_are_darker_the_more_they_are() -> None:
    found = share_matrix({("a", "b"): 0.72, ("a", "a"): 1.0}, ["a", "b"], "t", "told")

    assert '<td class="share s7">72%</td>' in found
    assert '<td class="share s10">100%</td>' in found
    assert "<td></td>" in found
