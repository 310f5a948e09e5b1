"""Dialogs as DeepPavlov Agent writes them, for tests of formatters."""

from typing import Any

State = dict[str, Any]


def human(text: str, *, hypotheses: Any = (), attributes: Any = None, **annotations: Any) -> State:
    return {
        "utt_id": text,
        "text": text,
        "user": {"id": "ann", "user_type": "human", "attributes": {}},
        "annotations": annotations,
        "hypotheses": list(hypotheses),
        "date_time": "2026-01-01 00:00:00",
        "attributes": attributes or {},
    }


def bot(
    text: str, skill: str = "", confidence: float = 0.9, *, learned: Any = None, **annotations: Any
) -> State:
    return {
        "utt_id": text,
        "text": text,
        "orig_text": text,
        "active_skill": skill,
        "confidence": confidence,
        "annotations": annotations,
        "date_time": "2026-01-01 00:00:01",
        "user": {"id": "assistant", "user_type": "bot", "attributes": learned or {}},
        "attributes": {},
    }


def hypothesis(skill: str, text: str, **more: Any) -> State:
    return {"skill_name": skill, "annotations": {}, "text": text, "confidence": 0.5, **more}


def dialog(*utterances: State, attributes: Any = None, persona: Any = None) -> State:
    return {
        "dialog_id": "d",
        "utterances": list(utterances),
        "human_utterances": [
            utterance for utterance in utterances if utterance["user"]["user_type"] == "human"
        ],
        "bot_utterances": [
            utterance for utterance in utterances if utterance["user"]["user_type"] == "bot"
        ],
        "human": {"id": "ann", "user_type": "human", "attributes": attributes or {}},
        "bot": {
            "id": "assistant",
            "user_type": "bot",
            "persona": persona or {},
            "attributes": {},
        },
        "channel_type": "http_client",
        "attributes": {"pipeline": ["skills.eliza"]},
    }


def turns(number: int) -> State:
    """Return a dialog of so many whole turns and a new human utterance."""
    said = [one for n in range(number) for one in (human(f"h{n}"), bot(f"b{n}", skill=f"skill{n}"))]
    return dialog(*said, human(f"h{number}"))
