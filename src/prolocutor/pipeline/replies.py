"""The replies of services, checked against the rules of their stages."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from inspect import isasyncgenfunction, iscoroutinefunction
from typing import Any, Final, cast

import msgspec

from prolocutor.contracts.selection import Effects, Selection
from prolocutor.dialog import schedules
from prolocutor.dialog.generated_words import DEFAULT_CONFIDENCE
from prolocutor.dialog.messages import checked_ask, checked_messages
from prolocutor.dialog.plain import Plain, PlainItems, check, encode
from prolocutor.dialog.profile_changes import Fault
from prolocutor.dialog.rendering import plain_text
from prolocutor.errors import BadReply, ServiceError

MAX_HYPOTHESES: Final = 100

_split: Final = msgspec.json.Decoder(list[msgspec.Raw]).decode

_OBJECTS: Final = {"human_attributes", "bot_attributes", "annotations", "attributes"}
_RICH: Final = frozenset({"messages", "ask", "schedule", "unschedule"})


class SkillReply(msgspec.Struct, frozen=True, gc=False):
    """A usable hypothesis of a skill, and its JSON if it is unchanged."""

    value: dict[str, Any]
    checked: bytes | None

    def labelled_copy(self, label: str) -> SkillReply:
        """Return the hypothesis with the label of its skill as `skill_name`."""
        return SkillReply({"skill_name": label, **self.value}, None)

    def mark_part(self, part: int) -> SkillReply:
        """Return the hypothesis with the number of its part in a fan-out."""
        return SkillReply({**self.value, "part": part}, None)


class EffectsReply(Plain, frozen=True, eq=False, gc=True):
    """A checked reply with its checked effects.

    `previous` is its annotation of the previous reply, `hypotheses` are its annotations of the
    hypotheses; `has_value`: the reply itself counts.
    """

    effects: Effects
    has_value: bool
    previous: Plain | None
    hypotheses: Sequence[Plain] | None


def checked_effects(effects: Effects) -> EffectsReply:
    """Check the effects of a response formatter; raise `BadReply` for values that are not JSON."""
    has_value = effects.value is not msgspec.UNSET
    value = check(effects.value) if has_value else Plain(None, b"null")
    previous = None if effects.previous is msgspec.UNSET else check(effects.previous)
    hypotheses = effects.hypotheses
    noted = None if hypotheses is None else [check(hypothesis) for hypothesis in hypotheses]
    attributes = {
        "human_attributes": effects.human_attributes,
        "bot_attributes": effects.bot_attributes,
    }
    asks = None if effects.asks is None else labels(check(effects.asks).value)
    effects = Effects(**check(attributes).value, asks=asks, carries=effects.carries)
    return EffectsReply(value.value, value.encoded, effects, has_value, previous, noted)


class SelectorChoice(msgspec.Struct, frozen=True, kw_only=True):
    """The answer of a response selector; `named` are hypothesis ids, None if it named no ids."""

    skill_name: str
    text: str
    confidence: float
    named: list[str] | None = None
    human_attributes: dict[str, Any] = {}
    bot_attributes: dict[str, Any] = {}
    attributes: dict[str, Any] | None = None
    annotations: dict[str, Any] | None = None
    messages: list[dict[str, Any]] | None = None
    ask: str | None = None


def read_selection(value: Any, known: Sequence[str], fault: Fault) -> Selection:
    """Read a skill selector's reply: names, None for all; unknown names are faults and left out."""
    more, reason, version = None, "", ""
    if isinstance(value, Selection):
        for what in value.faults:
            fault(what)
        value, more, reason, version = value.first, value.more, value.reason, value.version
        if more is not None and not _answers_at_once(more):
            fault("its `more` selects nothing: it must be a plain function, which answers at once")
            more = None
    if value is None:
        return Selection(list(known), more, reason, version)
    if not isinstance(value, list | tuple) or not all(isinstance(name, str) for name in value):
        raise BadReply(f"expected a list of skill names, found {_kind(value)}")
    for name in value:
        if name not in known:
            fault(f"selects '{name:.80}', which is not a skill")
    return Selection([name for name in value if name in known], more, reason, version)


def _answers_at_once(more: object) -> bool:
    call = getattr(more, "__call__", None)  # noqa: B004 - an object may have an async __call__
    waits = iscoroutinefunction(more) or iscoroutinefunction(call) or isasyncgenfunction(more)
    return call is not None and not waits


def hypotheses(reply: Plain, fault: Fault, *, silent: bool = False) -> list[SkillReply]:
    """Read a skill's reply; return its usable hypotheses.

    A bare text is a hypothesis with `CONFIDENCE`. An unusable hypothesis among several is a fault;
    if all hypotheses were unusable, raise `BadReply`. A hypothesis without words is
    left out, and is a fault if it has any confidence; with `silent`, it counts.
    """
    value, parts = reply.value, [reply.encoded]
    if type(value) is list and len(value) == 1 and _is_usual(value[0]):
        return [SkillReply(value[0], reply.encoded[1:-1])]
    if isinstance(value, str):
        value = [{"text": value, "confidence": DEFAULT_CONFIDENCE}]
        parts = [encode(value[0])]
    elif isinstance(value, dict):
        value = [value]
    elif not isinstance(value, list):
        raise BadReply(f"expected a list of hypotheses, found {_kind(value)}")
    elif len(value) == 1:
        parts = [reply.encoded[1:-1]]
    elif len(value) > MAX_HYPOTHESES:
        raise BadReply(f"{len(value)} hypotheses, more than the {MAX_HYPOTHESES} allowed")
    else:
        parts = [bytes(part) for part in _split(reply.encoded)]
    good: list[SkillReply] = []
    last: BadReply | None = None
    for position, (item, encoded) in enumerate(zip(value, parts, strict=True)):
        try:
            read = _hypothesis(item, position)
        except BadReply as error:
            last = error
            if len(value) > 1:
                fault(str(error))
        else:
            if silent or _says_something(read):
                good.append(SkillReply(read, encoded if read is item else None))
            elif read["confidence"] > 0:
                fault(f"says nothing with confidence {read['confidence']:g} ($[{position}])")
    if not good and last is not None:
        raise last
    return good


def labels(value: Any) -> list[str]:
    """Read the labels of asked services; raise `BadReply` unless it is a list of names."""
    if not isinstance(value, list) or not all(isinstance(name, str) for name in value):
        raise BadReply(f"expected a list of names, found {_kind(value)}")
    return value


def own_faults(value: Any) -> list[str]:
    """Return the `faults` of a response selector's reply, which do not make it useless."""
    faults = value.get("faults") if isinstance(value, dict) else None
    return [one for one in faults if isinstance(one, str)] if isinstance(faults, list) else []


def notes(reply: Plain, number: int, fault: Fault) -> list[Plain | None]:
    """Read a reply about `number` hypotheses at once; return None for each bad item."""
    if isinstance(reply.value, dict) and isinstance(reply.value.get("batch"), list):
        reply = Plain(reply.value["batch"], encode(reply.value["batch"]))
    if not isinstance(reply.value, list):
        raise BadReply(f"expected a list of {number} items, found {_kind(reply.value)}")
    if len(reply.value) != number:
        raise BadReply(f"{len(reply.value)} items for {number} hypotheses")
    if isinstance(reply, PlainItems):
        for position, item in enumerate(reply.items):
            if isinstance(item, ServiceError):
                fault(f"item {position}: {item}")
        return [item if isinstance(item, Plain) else None for item in reply.items]
    parts = _split(reply.encoded)
    return [Plain(one, bytes(part)) for one, part in zip(reply.value, parts, strict=True)]


def choice(value: Any, find: Callable[[str], object], *, silent: bool = False) -> SelectorChoice:
    """Read a response selector's reply; `find(id)` gives a hypothesis or None.

    A reply without words is refused unless `silent` is true.
    """
    if not isinstance(value, dict):
        raise BadReply(f"expected an object, found {_kind(value)}")
    named = value.get("hypotheses")
    if named is None and value.get("hypothesis") is not None:
        named = [value["hypothesis"]]
    if named is not None:
        if not isinstance(named, list) or not named:
            raise BadReply("expected a list of hypothesis ids", path="$.hypotheses")
        for one in named:
            if not isinstance(one, str) or find(one) is None:
                raise BadReply(f"no hypothesis has the id {one!r:.80}", path="$.hypotheses")
    text = _text(value, "text", "$")
    messages = _list(value, "messages", "$")
    if not (silent or text.strip() or messages) and value.get("ask") is None:
        raise BadReply("expected a text that says something", path="$.text")
    return SelectorChoice(
        skill_name=_text(value, "skill_name", "$"),
        text=text,
        confidence=_confidence(value, "$"),
        named=named,
        human_attributes=_object(value, "human_attributes", "$") or {},
        bot_attributes=_object(value, "bot_attributes", "$") or {},
        attributes=_object(value, "attributes", "$"),
        annotations=_object(value, "annotations", "$"),
        messages=None if messages is None else _add_text(messages, text, "$"),
        ask=checked_ask(value.get("ask")),
    )


def read_rewritten_text(value: Any) -> str:
    """Read a postprocessor's reply: the new text."""
    if not isinstance(value, str):
        raise BadReply(f"expected the new text, found {_kind(value)}")
    return value


def last_words(value: Any) -> tuple[str, dict[str, Any], float]:
    """Read a last chance's reply; return the text, the annotations and the confidence."""
    if isinstance(value, str):
        return value, {}, 0.0
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    if not isinstance(value, dict):
        raise BadReply(f"expected a text, found {_kind(value)}")
    confidence = _confidence(value, "$") if "confidence" in value else 0.0
    return _text(value, "text", "$"), _object(value, "annotations", "$") or {}, confidence


def _is_usual(item: Any) -> bool:
    """Return whether a hypothesis has only a text with words and a confidence."""
    if type(item) is not dict or len(item) != 2 or type(item.get("confidence")) is not float:
        return False
    text = item.get("text")
    return type(text) is str and text != "" and not text.isspace()


def _hypothesis(item: Any, position: int) -> dict[str, Any]:
    path = f"$[{position}]"
    if not isinstance(item, dict):
        raise BadReply(f"expected a hypothesis, found {_kind(item)}", path=path)
    if not _RICH.isdisjoint(item):
        item = _rich(item, path)
    _text(item, "text", path)
    _confidence(item, path)
    for key in _OBJECTS & item.keys():
        _object(item, key, path)
    if not isinstance(item.get("can_continue"), bool | str | None):
        what = f"expected true, false or a text, found {_kind(item['can_continue'])}"
        raise BadReply(what, path=f"{path}.can_continue")
    return cast("dict[str, Any]", item)


def _says_something(item: dict[str, Any]) -> bool:
    return bool(item["text"].strip()) or any(item.get(key) for key in _RICH)


def _rich(item: dict[str, Any], path: str) -> dict[str, Any]:
    """Check a rich hypothesis, and add a text from its messages or a text message."""
    item = {**item}
    checked_ask(item.get("ask"), f"{path}.ask")
    messages = _list(item, "messages", path)
    if messages:
        text = item.get("text")
        messages = _add_text(messages, text if isinstance(text, str) else "", path)
        item["messages"] = messages
        if "text" not in item:
            texts = (message["text"] for message in messages if _is_text(message))
            item["text"] = next(texts, None) or plain_text(messages)
    schedules.check(item, path)
    return item


def _add_text(messages: list[Any], text: str, path: str) -> list[dict[str, Any]]:
    """Check messages; if they have no text, put the text first."""
    checked = checked_messages(messages, f"{path}.messages")
    if text.strip() and checked and not any(map(_is_text, checked)):
        return [{"type": "text", "text": text}, *checked]
    return checked


def _is_text(message: dict[str, Any]) -> bool:
    return bool(message["type"] == "text")


def _text(item: dict[str, Any], key: str, path: str) -> str:
    value = item.get(key)
    if not isinstance(value, str):
        raise BadReply(f"expected a text, found {_kind(value)}", path=f"{path}.{key}")
    return value


def _confidence(item: dict[str, Any], path: str) -> float:
    value = item.get("confidence")
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise BadReply(f"expected a number, found {_kind(value)}", path=f"{path}.confidence")
    if isinstance(value, int) and value.bit_length() > 1000:
        raise BadReply("expected a number of usual size", path=f"{path}.confidence")
    return value


def _object(item: dict[str, Any], key: str, path: str) -> dict[str, Any] | None:
    value = item.get(key)
    if value is not None and not isinstance(value, dict):
        raise BadReply(f"expected an object, found {_kind(value)}", path=f"{path}.{key}")
    return cast("dict[str, Any] | None", value)


def _list(item: dict[str, Any], key: str, path: str) -> list[Any] | None:
    value = item.get(key)
    if value is not None and not isinstance(value, list):
        raise BadReply(f"expected a list, found {_kind(value)}", path=f"{path}.{key}")
    return value


def _kind(value: Any) -> str:
    names = {dict: "an object", list: "a list", str: "a text", bool: "a truth value"}
    if value is None:
        return "nothing"
    return names.get(
        type(value), "a number" if isinstance(value, int | float) else "something else"
    )
