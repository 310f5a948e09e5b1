"""The key `rewriter` of a file: a chat model that says what follow-ups mean."""

from pathlib import Path

from prolocutor.config.loading import load
from prolocutor.plan.pipeline import Stage

FILE = """
rewriter: {call: "http://127.0.0.1:9/v1?model=m", timeout: 2}
annotators:
  rules: {call: "json:dumps", label: follow_up}
skills: {echo: "json:dumps"}
"""


def test_the_model_is_asked_after_the_rules(tmp_path: Path) -> None:
    file = tmp_path / "assistant.yaml"
    file.write_text(FILE)

    settings = load(file)
    [rewriter] = settings.additions
    *_, added = rewriter.added_to(settings.pipeline).services_at(Stage.ANNOTATOR)

    assert added.name == "rewriter"
    assert added.label == "follow_up"
    assert added.after == ["rules"]
    assert added.call.connector == "openai_chat"
    assert added.timeout == 2.0
