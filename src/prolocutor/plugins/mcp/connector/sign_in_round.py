"""SignInRound: asks a person to sign in at a server while their request waits."""

from __future__ import annotations

from typing import Any, Final
from urllib.parse import urlsplit

import msgspec

from prolocutor.asks.answer_forms import gives_up
from prolocutor.contracts.connector import DeltaSink, Request
from prolocutor.dialog.plain import JsonObject, encode
from prolocutor.plugins.mcp.connector.input_rounds import PREFIX

MAX_LINKS: Final = 3
"""Links that are given for one request."""


class SignInRound(msgspec.Struct, forbid_unknown_fields=True, omit_defaults=True):
    """The person's words that need the sign-in, and the number of links given so far."""

    signs_in: str
    links: int = 1

    def question(self, service: str, url: str, link: str) -> JsonObject:
        """Return the hypothesis with the link for the person."""
        text = f"Please sign in at {urlsplit(url).hostname} first. Say yes when you have."
        return {
            "text": text,
            "messages": [
                {"type": "text", "text": text},
                {"type": "link", "title": "Sign in", "url": link},
            ],
            "ask": "yesno",
            "can_continue": True,
            "confidence": 1.0,
            "human_attributes": {PREFIX + service: msgspec.to_builtins(self)},
        }


def declined_hypothesis(service: str) -> JsonObject:
    """Return the hypothesis for a person who declines to sign in."""
    text = "All right, then I cannot do that for you."
    return {"text": text, "confidence": 1.0, "human_attributes": {PREFIX + service: None}}


def is_declined(answer: JsonObject) -> bool:
    """Return whether a person declines to sign in."""
    return gives_up(answer) or answer.get("value") is not True


def sign_in_round(value: Any, service: str) -> SignInRound | None:
    """Return the sign-in that this service asked a request's person for, or None."""
    try:
        return msgspec.convert(value["human"]["attributes"][PREFIX + service], SignInRound)
    except (KeyError, TypeError, msgspec.ValidationError):
        return None


def request_user(request: Request) -> str:
    """Return the person of a request, "" if it names none."""
    value = request.value()
    human = value.get("human") if isinstance(value, dict) else None
    user = human.get("user_external_id") if isinstance(human, dict) else None
    return user if isinstance(user, str) else ""


def said_last(request: Request) -> str | None:
    """Return the person's last words; None if the request lacks them."""
    try:
        text = request.value()["utterances"][-1]["text"]
    except (KeyError, TypeError, IndexError):
        return None
    return text if isinstance(text, str) else None


class ResumedRequest:
    """A request with the words that the person said before the sign-in."""

    def __init__(self, request: Request, text: str) -> None:
        value = request.value()
        value.pop("answer", None)
        for said in {id(one[-1]): one[-1] for one in _lists(value)}.values():
            said["text"] = text
        self._body = encode(value)
        self._request = request

    @property
    def service(self) -> str:
        """The name of the service."""
        return self._request.service

    @property
    def turn_id(self) -> str:
        """The id of the turn."""
        return self._request.turn_id

    @property
    def key(self) -> str:
        """The key of the call, the same when the turn runs again."""
        return self._request.key

    @property
    def timeout(self) -> float:
        """The time limit in seconds."""
        return self._request.timeout

    @property
    def deltas(self) -> DeltaSink | None:
        """The sink for words of the unfinished reply."""
        return self._request.deltas

    def value(self) -> Any:
        """Return the decoded request."""
        return msgspec.json.decode(self._body)

    def body(self) -> bytes:
        """Return the request as JSON."""
        return self._body


def _lists(value: JsonObject) -> list[list[JsonObject]]:
    found = [value.get("utterances"), value.get("human_utterances")]
    return [one for one in found if isinstance(one, list) and one]
