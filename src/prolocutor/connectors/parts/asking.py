"""Questions to another assistant, and its answer as a hypothesis."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, Final
from urllib.parse import urljoin

import msgspec

from prolocutor.connectors.parts.url import Url
from prolocutor.contracts.connector import Request
from prolocutor.dialog.messages import checked_messages, is_ask
from prolocutor.dialog.plain import JsonObject, decode
from prolocutor.errors import BadReply

CHAIN: Final = "asked_by"
"""The attribute with the turns around this turn at other assistants, the first turn first."""

NEVER_MIND: Final[JsonObject] = {
    "code": ["bookkeeping", "special", "special:nevermind"],
    "entities": {},
}

MAX_MESSAGES: Final = 100
YES_OR_NO: Final = " [yes/no]"
_NOT_OURS: Final = frozenset({"id", "icon", "idx", "state"})


class PeerQuestion(msgspec.Struct):
    """A person's words: a text, and its meaning `parsed`, if known. `dialog_id` is the dialog's id,
    or the turn's without a dialog. `kept` are the bot's attributes, `chain` the turns around this
    turn.
    """

    dialog_id: str
    text: str
    user: str = ""
    parsed: JsonObject | None = None
    attributes: JsonObject = {}
    kept: JsonObject = {}
    chain: list[str] = []


def read_question(request: Request) -> PeerQuestion:
    """Read a request: the agent state, a text, or `{text, parsed?, attributes?, dialog_id?}`.

    Raise `BadReply` for anything else.
    """
    value = request.value()
    if isinstance(value, str):
        return PeerQuestion(request.turn_id, value)
    try:
        if "utterances" not in value and isinstance(value["text"], str):
            return _read_formatted(value, request.turn_id)
        return _read_state(value)
    except (KeyError, TypeError, IndexError, AttributeError) as error:
        raise BadReply(f"an assistant needs the agent state, or a text ({error!r})") from None


def _read_formatted(value: Mapping[str, Any], turn_id: str) -> PeerQuestion:
    question = PeerQuestion(str(value.get("dialog_id") or turn_id), value["text"])
    if isinstance(value.get("parsed"), dict):
        question.parsed = value["parsed"]
    if isinstance(value.get("attributes"), dict):
        question.attributes = value["attributes"]
    return question


def _read_state(state: Mapping[str, Any]) -> PeerQuestion:
    said = state["utterances"][-1]
    attributes = dict(said.get("attributes") or {})
    chain = attributes.pop(CHAIN, None)
    question = PeerQuestion(
        dialog_id=state["dialog_id"],
        text=said["text"],
        user=str((state.get("human") or {}).get("user_external_id") or ""),
        attributes=attributes,
        kept=(state.get("bot") or {}).get("attributes") or {},
        chain=[str(one) for one in chain] if isinstance(chain, list) else [],
    )
    if isinstance(answer := state.get("answer"), dict):
        _take_answer(question, answer)
    return question


def _take_answer(question: PeerQuestion, answer: Mapping[str, Any]) -> None:
    kind, value, raw = answer.get("kind"), answer.get("value"), answer.get("raw")
    if isinstance(raw, str) and raw:
        question.text = raw
    if kind in ("raw_string", "password"):
        question.text = value if isinstance(value, str) else question.text
    elif kind in ("button", "command") and isinstance(value, dict):
        question.parsed = value
    elif kind == "button":
        question.text = str(value)
    else:
        question.parsed = _parsed_answer(kind, value)
        if question.parsed is None and isinstance(value, str) and not question.text:
            question.text = value


def _parsed_answer(kind: Any, value: Any) -> JsonObject | None:
    """Return an answer as Almond's clients send it; None for an answer better sent in words."""
    if kind == "cancelled":
        return NEVER_MIND
    if kind == "yesno":
        return _code("special", f"special:{'yes' if value else 'no'}")
    if kind == "choice" and isinstance(value, dict):
        return _code("choice", str(value.get("idx", 0)))
    found = _entity(kind, value)
    return _code("answer", found[0], **{found[0]: found[1]}) if found is not None else None


def _entity(kind: Any, value: Any) -> tuple[str, Any] | None:
    if kind == "number" and isinstance(value, int | float):
        return "NUMBER_0", value
    if kind == "location" and isinstance(value, dict) and value.get("latitude") is not None:
        return "LOCATION_0", value
    if kind == "generic" and isinstance(value, dict) and value.keys() == {"value", "unit"}:
        return f"MEASURE_{value['unit']}_0", value
    if not isinstance(value, str):
        return None
    if kind in ("date", "time"):
        names = ("year", "month", "day") if kind == "date" else ("hour", "minute", "second")
        parts = value.split("-" if kind == "date" else ":")
        if len(parts) == 3 and all(part.isdigit() for part in parts):
            return f"{kind.upper()}_0", dict(zip(names, map(int, parts), strict=True))
    if kind == "phone_number" or (kind == "contact" and value[:1] == "+"):
        return "PHONE_NUMBER_0", value
    if kind == "email_address" or (kind == "contact" and "@" in value):
        return "EMAIL_ADDRESS_0", value
    return ("PICTURE_0", value) if kind == "picture" else None


def _code(*words: str, **entities: Any) -> JsonObject:
    return {"code": ["bookkeeping", *words], "entities": entities}


def make_hypothesis(
    text: str, said: Sequence[Any], ask: Any, confidence: float, home: Url | None = None
) -> JsonObject | None:
    """Return a hypothesis with the messages and their ask; None for silence.

    `text` is the text without messages, `home` the address for links without a host. An unknown ask
    becomes an ask for any text. Messages of unknown kinds are left out.
    """
    messages = _messages(said, home)
    texts = [message["text"] for message in messages if message["type"] == "text"]
    text = "\n".join(texts) if messages else text.removesuffix(YES_OR_NO)
    if not text and not messages and ask is None:
        return None
    found: JsonObject = {"text": text, "confidence": confidence}
    if len(messages) > 1 or (messages and messages[0]["type"] != "text"):
        found["messages"] = messages
        if not texts:
            del found["text"]
    if ask is not None:
        has_choices = any(message["type"] == "choice" for message in messages)
        known = isinstance(ask, str) and is_ask(ask) and (ask != "choice" or has_choices)
        found |= {"ask": ask if known else "raw_string", "can_continue": True}
        if not text and not messages:
            found["text"] = "?"
    return found


def _messages(said: Sequence[Any], home: Url | None) -> list[JsonObject]:
    messages: list[JsonObject] = []
    for one in said[:MAX_MESSAGES]:
        if not isinstance(one, dict):
            continue
        message = {key: value for key, value in one.items() if key not in _NOT_OURS}
        kind = message.get("type")
        if kind == "button":
            message["json"] = {"payload": _command(message.get("json"))}
        if kind == "link" and "url" not in message and "link" in message:
            message["url"] = message.pop("link")
        if home is not None and isinstance(message.get("url"), str):
            message["url"] = _address(message["url"], home)
        if kind == "rdl" and isinstance(card := message.get("rdl"), dict) and home is not None:
            callback = card.get("webCallback") or card.get("callback")
            if isinstance(callback, str):
                message["rdl"] = {**card, "webCallback": _address(callback, home)}
        with suppress(BadReply):
            messages += checked_messages([message])
    return messages


def _command(json: Any) -> Any:
    """Return a button's content as an object; the second generation sends it as a text."""
    if isinstance(json, str):
        with suppress(ValueError, RecursionError):
            return decode(json)
    return json


def _address(url: str, home: Url) -> str:
    with suppress(ValueError):
        return urljoin(str(home), url)
    return url
