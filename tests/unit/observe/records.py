"""Records of turns for the tests of observers."""

from typing import Any

from prolocutor.contracts.observer import ServiceRecord, TurnRecord


def service(name: str = "skill", **changes: Any) -> ServiceRecord:
    given: dict[str, Any] = {
        "name": name,
        "stage": "skills",
        "outcome": "done",
        "started": 0.1,
        "ended": 0.3,
        "calls": 1,
    }
    return ServiceRecord(**{**given, **changes})


def record(*services: ServiceRecord, **changes: Any) -> TurnRecord:
    given: dict[str, Any] = {
        "turn_id": "0" * 32,
        "dialog_id": "1" * 32,
        "user": "ann",
        "channel": "http_client",
        "started": 1_700_000_000.5,
        "seconds": 0.5,
        "attempt": 1,
        "text": "the question",
        "response": "the reply",
        "active_skill": "skill",
        "confidence": 0.9,
        "by": "selector",
        "chosen": ["skill.0"],
        "asked": ["skill"],
        "services": list(services),
        "hypotheses": [],
        "faults": [],
    }
    return TurnRecord(**{**given, **changes})
