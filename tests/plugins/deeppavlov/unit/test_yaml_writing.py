"""Settings written as YAML read as the same settings."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from prolocutor.config.loading import load
from prolocutor.plugins.deeppavlov.convert import write_yaml

FORMATTERS = "state_formatters.dp_formatters"


def pipeline_conf() -> dict[str, Any]:
    """Return a small pipeline file that uses most of what there is."""
    http = {"protocol": "http", "url": "http://a:1/${x}", "timeout": 1.5}
    words = {"protocol": "python", "class_name": "PredefinedTextConnector", "response_text": "no"}
    return {
        "services": {
            "last_chance_service": {"connector": words, "tags": ["last_chance"]},
            "timeout_service": {"connector": words, "tags": ["timeout"]},
            "annotators": {
                "seg": {
                    "connector": http,
                    "dialog_formatter": f"{FORMATTERS}:last_utt_dialog",
                    "state_manager_method": "add_annotation",
                }
            },
            "response_annotators": {
                "seg": {
                    "connector": http,
                    "dialog_formatter": f"{FORMATTERS}:last_bot_utt_dialog",
                    "state_manager_method": "add_annotation_prev_bot_utt",
                }
            },
            "skill_selectors": {
                "rules": {
                    "connector": {
                        "protocol": "python",
                        "class_name": "RuleBasedSkillSelectorConnector",
                    },
                    "previous_services": ["annotators"],
                    "tags": ["selector"],
                }
            },
            "skills": {
                "chat": {
                    "connector": http,
                    "dialog_formatter": {
                        "name": f"{FORMATTERS}:dff_prompted_skill_formatter",
                        "skill_name": "chat",
                    },
                    "previous_services": ["skill_selectors"],
                    "state_manager_method": "add_hypothesis",
                }
            },
            "response_selectors": {
                "best": {
                    "connector": http,
                    "dialog_formatter": f"{FORMATTERS}:full_dialog",
                    "previous_services": ["skills"],
                    "state_manager_method": "add_bot_utterance",
                }
            },
        }
    }


def test_a_pipeline_file_and_its_yaml_come_to_the_same_pipeline(tmp_path: Path) -> None:
    file, written = tmp_path / "pipeline_conf.json", tmp_path / "assistant.yaml"
    file.write_text(json.dumps(pipeline_conf()))

    before = load(file)
    written.write_text(write_yaml(before))
    after = load(written, environ={})

    assert [*after.pipeline.services()] == [*before.pipeline.services()]
    assert after.pipeline.last_chance == before.pipeline.last_chance
    assert after.pipeline.user_snapshot == "current"
    assert after.pipeline.own_words is False
    assert after.name == before.name
    assert after.deadline == before.deadline
    assert after.fallback == before.fallback
