"""Skills that ask, and what each of the fifteen asks is answered by."""

from __future__ import annotations

from typing import Any

import msgspec

from prolocutor.assistant.assistant import Assistant
from prolocutor.assistant.turn_result import TurnResult
from prolocutor.dialog import plain
from prolocutor.plan.pipeline import Service
from tests.unit.assistant.talks import last_text

TIME = "what time is it"
WRONG = "what is that supposed to mean?!"


class Kind(msgspec.Struct, kw_only=True):
    """One ask: a right answer as text and as it comes parsed, and what the skill then gets."""

    right: str
    value: Any
    parsed: dict[str, Any]
    parsed_value: Any = None

    @property
    def when_parsed(self) -> Any:
        """What the skill gets if the answer comes parsed."""
        return self.value if self.parsed_value is None else self.parsed_value


def answer(token: str, value: Any) -> dict[str, Any]:
    """Return a parsed answer."""
    return {"code": ["bookkeeping", "answer", token], "entities": {token: value}}


def special(name: str) -> dict[str, Any]:
    """Return a parsed intent."""
    return {"code": ["bookkeeping", "special", f"special:{name}"], "entities": {}}


PLACE = {"latitude": 48.1, "longitude": 11.5, "display": "Munich"}
PROGRAM = {"program": "now => @a.b();"}
CHOICES = ["Tea", "Coffee"]

KINDS: dict[str, Kind] = {
    "yesno": Kind(right="sure", value=True, parsed=special("yes")),
    "number": Kind(right="5", value=5, parsed=answer("NUMBER_0", 5)),
    "date": Kind(
        right="2026-12-24",
        value="2026-12-24",
        parsed=answer("DATE_0", {"year": 2026, "month": 12, "day": 24}),
    ),
    "time": Kind(
        right="12:30",
        value="12:30:00",
        parsed=answer("TIME_0", {"hour": 12, "minute": 30, "second": 0}),
    ),
    "location": Kind(
        right="48.1, 11.5",
        value={"latitude": 48.1, "longitude": 11.5, "display": "48.1, 11.5"},
        parsed=answer("LOCATION_0", PLACE),
        parsed_value=PLACE,
    ),
    "phone_number": Kind(
        right="+49 30 901820",
        value="+4930901820",
        parsed=answer("PHONE_NUMBER_0", "+4930901820"),
    ),
    "email_address": Kind(
        right="ann@example.org",
        value="ann@example.org",
        parsed=answer("EMAIL_ADDRESS_0", "ann@example.org"),
    ),
    "contact": Kind(
        right="ann@example.org",
        value="ann@example.org",
        parsed=answer("GENERIC_ENTITY_tt:contact_0", {"value": "ann@example.org"}),
    ),
    "picture": Kind(
        right="https://example.org/a.png",
        value="https://example.org/a.png",
        parsed=answer("PICTURE_0", "https://example.org/a.png"),
    ),
    "password": Kind(right="s3cret", value="s3cret", parsed=answer("QUOTED_STRING_0", "s3cret")),
    "raw_string": Kind(right="T", value="T", parsed=answer("QUOTED_STRING_0", "T")),
    "choice": Kind(
        right="coffee",
        value={"idx": 1, "title": "Coffee"},
        parsed={"code": ["bookkeeping", "choice", "1"], "entities": {}},
    ),
    "command": Kind(right="play", value="play", parsed=PROGRAM, parsed_value=PROGRAM),
    "generic": Kind(
        right="5 km",
        value={"value": 5, "unit": "km"},
        parsed=answer("MEASURE_km_0", {"value": 5, "unit": "km"}),
    ),
}
RAW = {"raw_string", "password"}


class Asker:
    """A skill that asks for what it is told to, and says what it got; `told` are its answers."""

    def __init__(self) -> None:
        self.told: list[Any] = []
        self.failures = 0

    def __call__(self, request: Any) -> list[dict[str, Any]]:
        got = request.get("answer")
        if got is None:
            _, _, kind = last_text(request).partition("ask ")
            return [asking(kind)] if kind else []
        self.told.append(got)
        if self.failures:
            self.failures -= 1
            raise RuntimeError("out of order")
        known = {"human_attributes": {"told": len(self.told)}}
        if got["kind"] == "cancelled":
            return [{"text": "dropped", "confidence": 1.0, **known}]
        value = plain.encode(got["value"]).decode()
        return [{"text": f"got {value}", "confidence": 1.0, **known}]


def asking(kind: str) -> dict[str, Any]:
    """Return a hypothesis that asks for a value of a kind."""
    messages: list[dict[str, Any]] = [{"type": "text", "text": "Which one?"}]
    if kind == "choice":
        messages += [{"type": "choice", "title": title} for title in CHOICES]
    return {"messages": messages, "ask": None if kind == "null" else kind, "confidence": 1.0}


def clock(request: Any) -> list[dict[str, Any]]:
    """Tell the time to those who ask for it, and guess at everything else."""
    if last_text(request) == TIME:
        return [{"text": "noon", "confidence": 0.9}]
    return [{"text": "tick", "confidence": 0.2}]


def asking_skills(asker: Any) -> list[Service]:
    """Make a skill that asks, and one that is there for a change of the subject."""
    return [
        Service("asker", asker, timeout=60.0, inline=True),
        Service("clock", clock, timeout=60.0, inline=True),
    ]


def said(result: TurnResult) -> list[str]:
    """Return the texts and titles of what a turn said, in order."""
    messages = result.state["attributes"].get("messages")
    if messages is None:
        return [result.reply.text] if result.reply.text else []
    return [one.get("text") or one.get("title") or "" for one in messages]


async def closings(it: Assistant, user: str = "ann") -> list[str | None]:
    """Return the asks of the closings in a person's feed."""
    rows = await it.store.feed(user, 0, 10_000)
    return [plain.decode(row.closing)["ask"] for row in rows if row.closing is not None]
