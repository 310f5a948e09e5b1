"""A pipeline file of DeepPavlov Agent and the plan that it comes to."""

from __future__ import annotations

from typing import Any

import pytest

from prolocutor.errors import ConfigError
from prolocutor.plan.graph import compile_graph
from prolocutor.plan.stages import Stage, StageService
from prolocutor.plugins.deeppavlov.pipeline_file import OwnCode, PlannedFile, read_pipeline

MODULE = "state_formatters.dp_formatters"
EFFECTS = "prolocutor.plugins.deeppavlov.effects"


def http(url: str = "http://a:1/x", **more: Any) -> dict[str, Any]:
    """Return an HTTP service with a time-out."""
    return {"connector": {"protocol": "http", "url": url, "timeout": 1}, **more}


def python(name: str, **given: Any) -> dict[str, Any]:
    """Return the connector of a class."""
    return {"protocol": "python", "class_name": name, **given}


def file_of(**services: Any) -> dict[str, Any]:
    """Return a file with a skill, a response selector, and these."""
    skill = http("http://skill:1/", state_manager_method="add_hypothesis")
    chooser = http(
        "http://chooser:1/",
        state_manager_method="add_bot_utterance",
        previous_services=["skills"],
        tags=["selector"],
    )
    return {
        "services": {"skills": {"chat": skill}, "response_selectors": {"best": chooser}, **services}
    }


def the(planned: PlannedFile, stage: Stage, name: str) -> StageService:
    """Return the service of this stage and name."""
    return next(service for service in planned.pipeline.services_at(stage) if service.name == name)


@pytest.mark.parametrize(
    ("method", "formatter", "options"),
    [
        ("add_annotation", None, None),
        ("add_annotation_prev_bot_utt", f"{EFFECTS}:previous_reply", None),
        ("update_attributes", f"{EFFECTS}:attributes", None),
        (
            "add_annotation_and_reset_human_attributes_for_first_turn",
            f"{EFFECTS}:first_turn",
            {"keeps": {"disliked_skills": []}},
        ),
    ],
)
def test_the_method_says_what_becomes_of_a_reply_not_the_group(
    method: str, formatter: str | None, options: dict[str, Any] | None
) -> None:
    note = http(state_manager_method=method)

    found = the(read_pipeline(file_of(any_group={"note": note})), Stage.ANNOTATOR, "note")

    assert found.response_formatter == formatter
    assert found.response_formatter_options == options


def test_services_of_one_label_in_one_stage_have_names_of_their_own_and_one_label() -> None:
    human = http(state_manager_method="add_annotation")
    bot = http(state_manager_method="add_annotation_prev_bot_utt")

    planned = read_pipeline(file_of(response_annotators={"seg": bot}, annotators={"seg": human}))

    names = {
        service.name: service.label or service.name
        for service in planned.pipeline.services_at(Stage.ANNOTATOR)
    }
    assert names == {"seg": "seg", "seg_of_response_annotators": "seg"}


def test_what_a_selector_may_skip_is_waited_for_and_not_required() -> None:
    selector = {"connector": python("DescriptionBasedSkillSelectorConnector"), "tags": ["selector"]}
    note = http(state_manager_method="add_annotation")
    after = http(state_manager_method="add_annotation", required_previous_services=["skills", "a"])
    skill = http(state_manager_method="add_hypothesis", previous_services=["selector"])

    planned = read_pipeline(file_of(selector=selector, a=note, skills={"chat": skill}, b=after))

    found = the(planned, Stage.ANNOTATOR, "b")
    assert found.after == ["skills.chat"]
    assert found.requires == ["annotators.a"]


def test_deeppavlov_agents_own_formatters_and_connectors_are_built_in() -> None:
    note = http(
        dialog_formatter="base_last_utterances_formatter_in",
        response_formatter="ner_formatter_out",
        state_manager_method="add_annotation",
    )
    note["connector"]["batch_size"] = 4
    again = {**note, "connector": "notes.note"}
    each = http(
        dialog_formatter="base_hypotheses_formatter_in",
        state_manager_method="add_hypothesis_annotation",
    )
    best = {
        "connector": python("ConfidenceResponseSelectorConnector"),
        "state_manager_method": "add_bot_utterance",
    }
    file = file_of(notes={"note": note, "again": again}, each=each, response_selectors=best)

    planned = read_pipeline(file)

    compile_graph(planned.pipeline)
    found = the(planned, Stage.ANNOTATOR, "again")
    assert found.call.target == "http://a:1/x"
    assert found.batch_size == 4
    assert found.formatter == "base_last_utterances_formatter_in"
    assert found.response_formatter == "ner_formatter_out"
    assert the(planned, Stage.CANDIDATE_ANNOTATOR, "each").fan_out
    assert planned.faults == []


def test_a_label_may_hold_dots() -> None:
    note = http(state_manager_method="add_annotation")
    after = http(state_manager_method="add_annotation", previous_services=["notes.a.b"])

    planned = read_pipeline(file_of(notes={"a.b": note, "c": after}))

    graph = compile_graph(planned.pipeline)
    waiting = next(node for node in graph.nodes if node.name == "c")
    assert [one.name for one in waiting.before] == ["a.b"]


def test_names_that_do_not_exist_are_dropped_with_a_warning() -> None:
    note = http(
        state_manager_method="add_annotation", previous_services=["annotators.gone", "empty"]
    )

    planned = read_pipeline(file_of(annotators={"note": note}, empty={}))

    assert the(planned, Stage.ANNOTATOR, "note").after == []
    assert [warning.what for warning in planned.warnings if "note" in warning.key] == [
        "'annotators.gone' does not exist or is empty, so nothing waits for it",
        "'empty' does not exist or is empty, so nothing waits for it",
    ]
    compile_graph(planned.pipeline)


def test_what_follows_a_response_selector_that_is_a_selector_is_never_called() -> None:
    actor = http(state_manager_method="update_attributes", previous_services=["response_selectors"])

    planned = read_pipeline(file_of(actors={"arm": actor}))

    assert not planned.pipeline.services_at(Stage.ANNOTATOR)
    assert "services.actors.arm: is never called" in [
        f"{warning.key}: {warning.what}" for warning in planned.warnings
    ]


def test_a_selector_before_skills_selects_skills_and_another_one_selects_annotators() -> None:
    names = python("PostAnnotatorSelectorConnector", annotator_names=["seg"])
    content = file_of(
        pick={"connector": names, "tags": ["selector"]},
        bots={
            "seg": http(
                state_manager_method="add_annotation_prev_bot_utt", previous_services=["pick"]
            )
        },
        choose={"connector": python("RuleBasedSkillSelectorConnector"), "tags": ["selector"]},
    )
    content["services"]["skills"]["chat"]["previous_services"] = ["choose"]

    planned = read_pipeline(content)

    pick = the(planned, Stage.ANNOTATOR, "pick")
    assert pick.response_formatter == f"{EFFECTS}:nothing"
    assert pick.response_formatter_options == {"selects": True}
    assert [service.name for service in planned.pipeline.services_at(Stage.SKILL_SELECTOR)] == [
        "choose"
    ]


def test_a_formatter_may_be_an_object_with_arguments() -> None:
    content = file_of()
    content["services"]["skills"]["chat"]["dialog_formatter"] = {
        "name": f"{MODULE}:dff_prompted_skill_formatter",
        "skill_name": "dff_x_skill",
    }

    chat = the(read_pipeline(content), Stage.SKILL, "chat")

    assert chat.formatter == "prolocutor.plugins.deeppavlov.dream:dff_prompted_skill_formatter"
    assert chat.formatter_options == {"skill_name": "dff_x_skill"}


def test_an_unknown_formatter_is_a_fault_with_a_suggestion() -> None:
    content = file_of()
    content["services"]["skills"]["chat"]["dialog_formatter"] = f"{MODULE}:croped_dialog"

    (fault,) = read_pipeline(content).faults

    assert fault.key == "services.skills.chat.dialog_formatter"
    assert "did you mean 'cropped_dialog'?" in fault.what


def test_a_connector_may_stand_apart_and_a_missing_time_out_is_a_warning() -> None:
    note = {"connector": "connectors.seg", "state_manager_method": "add_annotation"}
    content = file_of(annotators={"note": note})
    content["connectors"] = {"seg": {"protocol": "http", "url": "http://seg:1/"}}

    planned = read_pipeline(content)

    found = the(planned, Stage.ANNOTATOR, "note")
    assert found.call.target == "http://seg:1/"
    assert found.timeout == 5.0
    assert "has no timeout: it is 5 s here" in [warning.what for warning in planned.warnings]


def test_services_must_be_a_map() -> None:
    with pytest.raises(ConfigError, match="not a pipeline file"):
        read_pipeline({"services": []})


def test_own_code_goes_first_where_it_is_asked_for() -> None:
    name = "skill_selectors.post_annotator_selector.connector:PostAnnotatorSelectorConnector"
    file = file_of(
        chooser={"connector": python(name, annotator_names=[]), "tags": ["selector"]},
        annotators={"ner": http(dialog_formatter=f"{MODULE}:last_utt_dialog")},
    )

    built_in = read_pipeline(file, OwnCode(lambda name: ""))
    imported = read_pipeline(file, OwnCode(lambda name: "", first=True))
    missing = read_pipeline(file, OwnCode(first=True))

    formatters = [
        the(one, Stage.ANNOTATOR, "ner").formatter for one in (built_in, imported, missing)
    ]
    assert formatters == [
        "prolocutor.plugins.deeppavlov.dream:last_utt_dialog",
        "prolocutor.plugins.deeppavlov.dream:imported_formatter",
        "prolocutor.plugins.deeppavlov.dream:last_utt_dialog",
    ]
    assert f"connectors imported: {name}" in imported.notes
    warned = {
        warning.what.partition(" ")[0] for warning in missing.warnings if "import" in warning.what
    }
    assert warned == {MODULE, name.partition(":")[0]}


def test_what_a_built_in_connector_lacks_is_told() -> None:
    file = file_of(skill_selectors={"rules": {"connector": python("x:DummySkillConnector")}})

    notes = read_pipeline(file).notes

    assert [note.split(":")[0] for note in notes] == ["connectors substituted"]
