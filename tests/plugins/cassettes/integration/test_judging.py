"""A chat model grades criteria, each with its reason; reports say so."""

from pathlib import Path
from xml.etree import ElementTree

import pytest

from prolocutor.errors import BadReply
from prolocutor.plugins.cassettes.judging import ChatPartner, Judge, Verdict
from prolocutor.plugins.cassettes.reports import TestOutcome, summary_line, write_junit
from tests.plugins.cassettes.talks import outcomes, write_assistant


class FakeModel(ChatPartner):
    """A chat model that says what it is told to."""

    def __init__(self, *said: str) -> None:
        self._said = list(said)
        self.asked: list[str] = []

    async def say(self, *messages: tuple[str, str]) -> str:
        self.asked.append(messages[-1][1])
        return self._said.pop(0)


@pytest.mark.parametrize(
    ("said", "verdict"),
    [
        ('{"reason": "It does.", "met": true}', Verdict(True, "It does.")),
        ('Sure: ```json\n{"met": "no", "reason": "Too short."}\n```', Verdict(False, "Too short.")),
        ('{"met": false}', Verdict(False, "")),
    ],
)
async def test_a_verdict_is_read(said: str, verdict: Verdict) -> None:
    assert await Judge(FakeModel(said)).grade("is polite", [("hi", "Hello.")]) == verdict


@pytest.mark.parametrize("said", ["", "It is fine.", '{"reason": "?"}', '{"met": "perhaps"}', "{"])
async def test_what_is_no_verdict_is_refused(said: str) -> None:
    with pytest.raises(BadReply, match="gave no verdict"):
        await Judge(FakeModel(said)).grade("is polite", [("hi", "Hello.")])


async def test_criteria_are_graded_with_their_reasons(tmp_path: Path) -> None:
    write_assistant(tmp_path)
    steps = "- say: TEA\n  judge: names a number\n- judge: is polite\n"
    (tmp_path / "tea.yaml").write_text(steps)
    model = FakeModel('{"met": true, "reason": "1."}', '{"met": false, "reason": "It is curt."}')

    (outcome,) = await outcomes(tmp_path / "tea.yaml", judge=Judge(model))

    assert outcome.status == "failed"
    assert outcome.notes == ["judged turn 1: names a number: yes, 1."]
    assert outcome.details == ["judged the dialog: is polite: no, It is curt."]
    assert '"person": "TEA"' in model.asked[0]


async def test_without_a_judge_criteria_are_named_and_nothing_fails(tmp_path: Path) -> None:
    write_assistant(tmp_path)
    (tmp_path / "tea.yaml").write_text("- say: TEA\n  judge: is polite\n")

    (outcome,) = await outcomes(tmp_path / "tea.yaml")

    assert outcome.notes == ["not judged, without --judge: is polite"]
    assert outcome.status == "passed"


def test_junit_has_a_suite_for_each_file_and_a_reason_for_each_failure(tmp_path: Path) -> None:
    told = [
        TestOutcome(file="a.yaml", name="one", seconds=0.5),
        TestOutcome(file="a.yaml", name="two", status="failed", details=["turn 1: \x00 <oh>"]),
        TestOutcome(file="b.cassette", name="", status="error", details=["no file"]),
    ]

    write_junit(tmp_path / "deep" / "report.xml", told)

    root = ElementTree.parse(tmp_path / "deep" / "report.xml").getroot()
    suites = [(one.get("name"), one.get("tests"), one.get("failures")) for one in root]
    assert suites == [("a.yaml", "2", "1"), ("b.cassette", "1", "0")]
    assert [one.get("message") for one in root.iter("failure")] == ["turn 1: ? <oh>"]
    assert summary_line(told) == "1 failed, 1 with errors, 1 passed in 0.50 s"
