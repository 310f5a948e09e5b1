"""The page of a run: whole in one file, and nothing that was said is HTML."""

from prolocutor.plugins.evaluation.run_folder import RunDescription
from prolocutor.plugins.evaluation.run_page import main_names, render_page, report_lines
from prolocutor.plugins.evaluation.run_report import make_report
from tests.plugins.evaluation.unit.made import row

HOSTILE = '</pre><script>alert("1")</script>'


def made(text: str) -> str:
    rows = [row(n, {"f1": 0.5, text: 1.0}, by=text, group=f"{text} {n % 2}") for n in range(4)]
    run = RunDescription(configuration={"subject": text, text: text}, options={"data": text})
    return render_page(run, make_report(rows))


def test_nothing_that_was_said_is_html() -> None:
    assert made(HOSTILE).count("<") == made("harmless").count("<")


def test_the_page_has_the_figures_and_the_configuration() -> None:
    page = made("harmless")

    assert "4 examples in 4 episodes" in page
    assert "f1 by group: harmless 0 0.5000, harmless 1 0.5000" in page
    assert "data: &quot;harmless&quot;" in page


def test_metrics_that_say_little_are_named_at_the_end_and_shown_when_they_are_asked_for() -> None:
    report = make_report(row(n, {"f1": 0.5, "precision": 0.5}) for n in range(4))

    shown = list(report_lines(report, whole=False))
    asked = list(report_lines(report, whole=False, asked="precision"))

    assert [line.split()[0] for line in shown if line.startswith(("f1", "precision"))] == ["f1"]
    assert "precision" in shown[-1]
    assert any(line.startswith("precision ") for line in asked)


def test_three_metrics_matter_beside_failures_and_the_usual_time() -> None:
    scores = {"accuracy": 1.0, "precision": 0.5, "f1": 0.5, "bleu-4": 0.2, "hits@1": 1.0}
    failed = make_report([row(0, scores), row(1, scores, error="it broke")])

    assert main_names(failed, "accuracy") == ["accuracy", "f1", "bleu-4", "errors", "latency_p50"]
