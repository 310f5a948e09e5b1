"""What the assistant can send: the kinds of messages of Almond's dialog API, checked.

A message is a plain dict with a `type`; keys that its kind does not know are kept. Source: the
Almond Dialog API, and what its servers send since (`audio`, `video`, `sound`, `new-program`).
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any, Final, get_args

from prolocutor.dialog.plain import decode
from prolocutor.dialog.rounds import Ask
from prolocutor.errors import BadReply

ASKS: Final[frozenset[str]] = frozenset(get_args(Ask))

_TEXT, _OBJECT, _WHOLE, _FLAG, _LIST = (
    "a text",
    "an object",
    "a whole number",
    "true or false",
    "a list",
)
_BUTTON = "an object or a text"

KINDS: Final[dict[str, dict[str, str]]] = {
    "text": {"text": _TEXT},
    "picture": {"url": _TEXT},
    "audio": {"url": _TEXT},
    "video": {"url": _TEXT},
    "rdl": {"rdl": _OBJECT},
    "result": {"result": _OBJECT, "fallback": _TEXT},
    "sound": {"name": _TEXT},
    "choice": {"title": _TEXT},
    "button": {"title": _TEXT, "json": _BUTTON},
    "link": {"title": _TEXT, "url": _TEXT},
    "new-program": {
        "uniqueId": _TEXT,
        "name": _TEXT,
        "code": _TEXT,
        "results": _LIST,
        "errors": _LIST,
    },
}
"""What a message of each kind must have, and of what sort it is."""

_MAY: Final[dict[str, str]] = {"alt": _TEXT, "idx": _WHOLE, "exclusive": _FLAG, "state": _OBJECT}
"""What a message may have, in whichever kind; null stands for nothing."""


def checked_messages(value: list[Any], path: str = "$.messages") -> list[dict[str, Any]]:
    """Check messages and complete them: choices are numbered from 0, `link` stands for `url`.

    `BadReply` names the path of the first that is none.
    """
    messages = [_checked(one, f"{path}[{position}]") for position, one in enumerate(value)]
    choices = (one for one in messages if one["type"] == "choice")
    for position, choice in enumerate(choices):
        choice["idx"] = position
    return messages


def checked_ask(value: Any, path: str = "$.ask") -> Ask | None:
    """Check an ask; `BadReply` where there is none of this name."""
    if value is None or (isinstance(value, str) and value in ASKS):
        return value  # type: ignore[return-value]
    raise BadReply(
        f"no ask is called {value!r:.80}; there are {', '.join(get_args(Ask))}", path=path
    )


def with_owner(messages: list[dict[str, Any]], skill: str) -> list[dict[str, Any]]:
    """Return messages whose buttons say whose they are: what they carry comes back to that skill.

    A button that carries a command (a program, bookkeeping) or an owner stays as it is. A text that
    is no JSON object becomes the `payload` of one.
    """
    if not skill or not any(one["type"] == "button" for one in messages):
        return messages
    return [
        {**one, "json": _owned(one["json"], skill)} if one["type"] == "button" else one
        for one in messages
    ]


def _owned(json: Any, skill: str) -> Any:
    if isinstance(json, str):
        with suppress(ValueError):
            json = decode(json)
    if not isinstance(json, dict):
        return {"payload": json, "skill": skill}
    if "skill" in json or "program" in json or _is_command(json.get("code")):
        return json
    return {**json, "skill": skill}


def _is_command(code: Any) -> bool:
    """Return whether code is the assistant's own: bookkeeping, or a program in ThingTalk."""
    tokens = code.split() if isinstance(code, str) else code
    if not isinstance(tokens, list) or not all(isinstance(token, str) for token in tokens):
        return False
    return tokens[:1] == ["bookkeeping"] or any(token.startswith(("$", "@")) for token in tokens)


def _checked(given: Any, path: str) -> dict[str, Any]:
    if not isinstance(given, dict):
        raise BadReply("expected a message, an object with a type", path=path)
    message: dict[str, Any] = {**given}
    kind = message.get("type")
    if not isinstance(kind, str) or kind not in KINDS:
        known = ", ".join(KINDS)
        raise BadReply(
            f"no message is of type {kind!r:.80}; there are {known}", path=f"{path}.type"
        )
    if kind == "link" and "url" not in message and "link" in message:
        message["url"] = message.pop("link")
    for key, what in KINDS[kind].items():
        if not _is(what, message.get(key)):
            raise BadReply(f"a {kind} message needs {what} here", path=f"{path}.{key}")
    for key, what in _MAY.items():
        if message.get(key) is not None and not _is(what, message[key]):
            raise BadReply(f"expected {what}", path=f"{path}.{key}")
    if kind == "rdl" and not _is(_TEXT, message["rdl"].get("webCallback")):
        raise BadReply("an rdl needs a webCallback", path=f"{path}.rdl.webCallback")
    return message


def _is(what: str, value: Any) -> bool:
    kinds: dict[str, tuple[type, ...]] = {
        _TEXT: (str,),
        _OBJECT: (dict,),
        _LIST: (list,),
        _WHOLE: (int,),
        _FLAG: (bool,),
        _BUTTON: (dict, str),
    }
    return isinstance(value, kinds[what]) and not (what == _WHOLE and isinstance(value, bool))
