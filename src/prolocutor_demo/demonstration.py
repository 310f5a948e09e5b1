"""The demonstration: sends every kind of message and ask on fixed inputs, to try clients with.

It answers its exact words alone; which they are stands in `docs/reference/almond.md`.
"""

from __future__ import annotations

from typing import Any, Final

from prolocutor_demo.reading.utterance import last_utterance

Message = dict[str, Any]
Hypothesis = dict[str, Any]

CONFIDENCE: Final = 1.0
HELP: Final = {"code": ["bookkeeping", "special", "special:help"], "entities": {}}
SIGN_IN: Final = "/devices/oauth2/com.example?name=Example"
SET_UP: Final = (
    "/devices/configure/com.example?name=Example&controls="
    "%7B%22type%22%3A%22form%22%2C%22fields%22%3A%5B%7B%22name%22%3A%22url%22%2C"
    "%22label%22%3A%22Address%22%2C%22type%22%3A%22url%22%7D%5D%7D"
)
LOGO: Final = "https://www.python.org/static/community_logos/python-logo.png"


def answer(request: dict[str, Any]) -> list[Hypothesis]:
    """Answer a fixed input, or acknowledge an answer to an ask; decline all else."""
    if "answer" in request:
        return _taken(request["answer"])
    said = last_utterance(request).get("text")
    if not isinstance(said, str):
        return []
    said = said.strip()
    if said in _ASKS:
        kind, prompt = _ASKS[said]
        return [_hypothesis([_text(prompt)], kind)]
    if said in _MESSAGES:
        messages, ask = _MESSAGES[said]
        return [_hypothesis(messages, ask)]
    return []


def _taken(answer: dict[str, Any]) -> list[Hypothesis]:
    """Return a hypothesis with the value of the answer; none if the user cancelled."""
    kind: str = answer["kind"]
    value: Any = answer.get("value")
    if kind == "cancelled":
        return []
    if kind == "yesno":
        said = f"You said {'yes' if value else 'no'}."
    elif kind == "choice":
        said = f"You chose {value['title']}."
    elif kind == "raw_string":
        said = f"Noted: {value}"
    elif kind == "password":
        said = f"A password of {len(str(value))} characters. It is our secret."
    elif kind == "location":
        place = value.get("display") or f"{value['latitude']}, {value['longitude']}"
        said = f"You said {place}."
    else:
        said = f"You said {value}."
    return [_hypothesis([_text(said)])]


def _hypothesis(messages: list[Message], ask: str | None = None) -> Hypothesis:
    text = next(one["text"] for one in messages if one["type"] == "text")
    return {"text": text, "confidence": CONFIDENCE, "messages": messages, "ask": ask}


def _text(text: str) -> Message:
    return {"type": "text", "text": text}


_MESSAGES: Final[dict[str, tuple[list[Message], str | None]]] = {
    "hello": ([_text("Hello! What can I do for you?")], None),
    "choose": (
        [
            _text("Which one would you like?"),
            {"type": "choice", "title": "Red", "text": "The colour of roses"},
            {"type": "choice", "title": "Blue", "text": "The colour of violets"},
        ],
        "choice",
    ),
    "cards": (
        [
            _text("Here are some cards."),
            {"type": "picture", "url": LOGO, "alt": "The logo of Python"},
            {
                "type": "rdl",
                "rdl": {
                    "webCallback": "https://www.python.org/",
                    "displayTitle": "Python",
                    "displayText": "A programming language",
                    "pictureUrl": LOGO,
                },
            },
            {"type": "button", "title": "Help", "json": HELP},
            {"type": "link", "title": "Sign in to Example", "url": SIGN_IN},
            {"type": "link", "title": "Set up Example", "url": SET_UP},
        ],
        None,
    ),
    "play": (
        [
            _text("Here are sound and pictures that move."),
            {
                "type": "audio",
                "url": "https://upload.wikimedia.org/wikipedia/commons/c/c8/Example.ogg",
                "alt": "An example of speech",
            },
            {
                "type": "video",
                "url": "https://interactive-examples.mdn.mozilla.net/media/cc0-videos/flower.mp4",
                "alt": "A flower opens",
            },
            {"type": "sound", "name": "message-new-instant", "exclusive": False},
        ],
        None,
    ),
    "result": (
        [
            _text("Here is a result."),
            {
                "type": "result",
                "result": {"type": "weather", "temperature": 21, "unit": "C"},
                "fallback": "It is 21 degrees.",
            },
        ],
        None,
    ),
}
_ASKS: Final[dict[str, tuple[str, str]]] = {
    "ask me": ("yesno", "Do you like questions?"),
    "tell me": ("raw_string", "What would you like to tell me?"),
    "ask for a number": ("number", "Which number?"),
    "ask for a date": ("date", "Which day?"),
    "ask for a time": ("time", "What time of day?"),
    "ask for a place": ("location", "Which place?"),
    "ask for a phone number": ("phone_number", "Which phone number?"),
    "ask for an email address": ("email_address", "Which email address?"),
    "ask for a contact": ("contact", "Whom?"),
    "ask for a picture": ("picture", "Which picture?"),
    "ask for a password": ("password", "Which password? Take none of yours."),
    "ask for a command": ("command", "Which command?"),
    "ask for anything": ("generic", "What is it?"),
}

WORDS: Final = frozenset({*_MESSAGES, *_ASKS})
"""All that it answers."""
