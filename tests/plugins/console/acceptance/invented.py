"""Invented conversations, as the endpoints of the console tell of them."""

from collections.abc import Iterator
from typing import Any

Json = dict[str, Any]

NOW = 1_795_000_000.0
FLAGS: tuple[list[str], ...] = (["down"], [], ["failed", "slow"], [], ["none"], [])


def dialog_id(number: int) -> str:
    return f"{number:024x}"


def utt_id(dialog: int, turn: int) -> str:
    return f"{dialog:016x}{turn:016x}"


def summary(number: int, at: float = NOW, **fields: Any) -> Json:
    """Return a row of the list of conversations."""
    flags = FLAGS[number % len(FLAGS)]
    return {
        "dialog_id": dialog_id(number),
        "user": ("page:ann", "almond:local", "page:ola")[number % 3],
        "channel": ("page", "almond", "page")[number % 3],
        "at": at - 60 * number,
        "active": number < 5,
        "said": f"question {number} about the train",
        "reply": f"answer {number}",
        "spoke": [("refunds", "llm")[number % 2]],
        "turns": 4,
        "slowest": 3.41 if "slow" in flags else 0.041,
        "cost": 0.0113 if number % 2 else 0.0,
        "flags": flags,
        "failed": 1 if "failed" in flags else 0,
        **fields,
    }


def turns(number: int, said: int = 4) -> Iterator[Json]:
    """Return the turns of a conversation, the first one first."""
    for turn in range(said):
        yield {
            "position": 2 * turn + 1,
            "turn_id": f"{number:016x}{turn:08x}",
            "utt_id": utt_id(number, turn),
            "at": NOW - 60 * number - 30 * (said - turn),
            "said": f"what was said {turn} in {number}",
            "reply": f"what was replied {turn} in {number}",
            "spoke": "llm",
            "by": "selector",
            "seconds": 3.412,
            "cost": 0.0113,
            "flags": ["failed"] if turn == said - 1 else [],
            "rating": -1 if turn == said - 1 else None,
        }


def service(name: str, stage: str, started: float | None, ended: float | None, **more: Any) -> Json:
    known = {"outcome": "done", "calls": 1, "error": None, "code": None, "critical": False}
    return {"name": name, "stage": stage, "started": started, "ended": ended, **known, **more}


SERVICES = [
    service("language", "annotators", 0.001, 0.006),
    service("entities", "annotators", 0.001, 0.021, critical=True),
    service("router", "skill_selector", 0.021, 0.022, critical=True),
    service(
        "travel_bot",
        "skills",
        0.022,
        1.259,
        outcome="failed",
        critical=True,
        error="503 Service Unavailable from http://travel.example/ask, twice",
        code="unreachable",
    ),
    service("refunds", "skills", 0.022, 0.171),
    service("llm", "skills", 1.363, 3.357, critical=True),
    service("jokes", "skills", None, None, outcome="skipped", error="switched off by kim"),
    service("ranker", "response_selector", 3.371, 3.389, critical=True),
    service("tone", "response_annotators", 3.391, 3.404, outcome="late", error="later than 13 ms"),
]


def turn(id_: str, **fields: Any) -> Json:
    """Return how a reply came about."""
    return {
        "turn_id": id_[:24],
        "utt_id": id_,
        "text": "can I get my money back if the train to Bergen is late?",
        "response": "Within a month you can claim half of the fare.",
        "active_skill": "llm",
        "confidence": 0.5,
        "by": "selector",
        "started": NOW - 25,
        "seconds": 3.412,
        "attempt": 1,
        "asked": ["travel_bot", "refunds", "llm"],
        "chosen": ["skills.llm.0"],
        "services": SERVICES,
        "hypotheses": [
            hypothesis("llm", "Within a month you can claim half of the fare.", 0.5),
            hypothesis("refunds", "To claim money back I need the number of the order.", 0.8),
        ],
        "faults": [{"service": "refunds", "what": "the key id of human_attributes is protected"}],
        "remarks": [],
        "reasons": [],
        "cost": 0.0113,
        "scores": {"skills.llm.0": 0.71, "skills.refunds.0": 0.34},
        "waves": [
            {"at": 0.022, "asked": ["travel_bot", "refunds"], "reason": "likeliest two"},
            {"at": 1.363, "asked": ["llm"], "reason": "the best answer is right with 0.34"},
        ],
        "annotations": {"language": "en", "entities": [{"text": "Bergen"}]},
        "changes": [
            change("person", "last_place", before="Oslo", after="Bergen", by="entities"),
            change("bot", "claim", after={"step": "offered"}, by="llm"),
            change("bot", "menu", before=["cards"], by="refunds"),
        ],
        "lost": [{"service": "travel_bot", "seconds": 1.237}],
        "rating": -1,
        "again": True,
        "version": "1",
        **fields,
    }


def hypothesis(skill: str, text: str, confidence: float) -> Json:
    id_ = f"skills.{skill}.0"
    return {"hypothesis_id": id_, "skill_name": skill, "text": text, "confidence": confidence}


def change(whose: str, key: str, **fields: Any) -> Json:
    by = [fields.pop("by")]
    return {"whose": whose, "part": "attributes", "key": key, "by": by, **fields}


def not_kept(id_: str) -> Json:
    """Return what is left of a turn of long ago."""
    gone = ("services", "faults", "remarks", "reasons", "scores", "waves", "seconds", "by", "cost")
    return turn(id_, lost=[], changes=None, annotations=None, **dict.fromkeys(gone))
