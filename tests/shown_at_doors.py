"""What comes out at each door of what an assistant can say: the table of docs/reference/doors.md.

The page and the tests read it. A cell names the forms in which a message, or an ask, is shown; each
form is a check in `tests/integration/doors/test_doors.py`.
"""

from typing import Any, Final

DOORS: Final = ("deeppavlov", "almond", "parlai", "openai", "a2a", "mcp", "agui")
"""The door `page` speaks the wire of `almond`."""

MESSAGES: Final[dict[str, dict[str, Any]]] = {
    "text": {"type": "text", "text": "Good day"},
    "picture": {"type": "picture", "url": "https://example.org/cat.png", "alt": "A cat"},
    "audio": {"type": "audio", "url": "https://example.org/purr.ogg", "alt": "A purr"},
    "video": {"type": "video", "url": "https://example.org/leap.mp4", "alt": "A leap"},
    "link": {"type": "link", "title": "Timetable", "url": "https://example.org/times"},
    "rdl": {
        "type": "rdl",
        "rdl": {
            "webCallback": "https://example.org/hotel",
            "displayTitle": "Hotel",
            "displayText": "By the sea",
        },
    },
    "button": {"type": "button", "title": "Reserve", "json": {"payload": "reserve"}},
    "choice": {"type": "choice", "title": "Garden"},
    "result": {"type": "result", "result": {"degrees": 21}, "fallback": "It is 21 degrees."},
    "sound": {"type": "sound", "name": "message-new"},
    "new-program": {
        "type": "new-program",
        "uniqueId": "program-1",
        "name": "Watch",
        "code": "now => @a.b();",
        "results": [],
        "errors": [],
    },
}
"""One message of each kind."""

WRITTEN: Final = {
    "text": "Good day",
    "picture": "A cat: https://example.org/cat.png",
    "audio": "A purr: https://example.org/purr.ogg",
    "video": "A leap: https://example.org/leap.mp4",
    "link": "Timetable: https://example.org/times",
    "rdl": "Hotel: https://example.org/hotel\nBy the sea",
    "button": "[Reserve]",
    "choice": "1. Garden",
    "result": "It is 21 degrees.",
    "sound": "(sound: message-new)",
    "new-program": "",
}
"""How each is written where there is nothing but text; a program says its results itself."""

FORMS: Final = {
    "text": "a line of the text",
    "message": "the unchanged message",
    "quick reply": "its title, as a quick reply",
    "part": "a part of its own kind (text or file)",
    "data": "a data part",
    "link": "a resource link",
    "fallback": "its text before it",
    "ask": "the kind of the ask",
    "state": "the state INPUT_REQUIRED",
    "schema": "a schema of the answer",
    "interrupt": "an interrupt with a schema of the answer",
    "yes/no": "`[yes/no]` at the end of the text",
    "nothing": "not shown",
}
"""The words of the cells."""

_TEXT_DOORS: Final = {
    "deeppavlov": "text, message", "openai": "text, message", "agui": "text, message",
}  # fmt: skip

SHOWN: Final[dict[str, dict[str, str]]] = {
    "text": {
        **_TEXT_DOORS, "almond": "message", "parlai": "text", "a2a": "part",
        "mcp": "text, message", "agui": "text",
    },
    **{
        kind: {
            **_TEXT_DOORS, "almond": "message", "parlai": "text", "a2a": "part",
            "mcp": "text, link, message",
        }
        for kind in ("picture", "audio", "video")
    },
    **{
        kind: {
            **_TEXT_DOORS, "almond": "message", "parlai": "text", "a2a": "data",
            "mcp": "text, link, message",
        }
        for kind in ("link", "rdl")
    },
    **{
        kind: {
            **_TEXT_DOORS, "almond": "message", "parlai": "quick reply", "a2a": "data",
            "mcp": "text, message",
        }
        for kind in ("button", "choice")
    },
    "result": {
        **_TEXT_DOORS, "almond": "fallback", "parlai": "text", "a2a": "data",
        "mcp": "text, message",
    },
    "sound": {
        **_TEXT_DOORS, "almond": "message", "parlai": "text", "a2a": "data",
        "mcp": "text, message",
    },
    "new-program": {
        "deeppavlov": "message", "openai": "message", "almond": "message", "parlai": "nothing",
        "a2a": "data", "mcp": "message", "agui": "message",
    },
}  # fmt: skip
"""The forms of each kind of message at each door."""

ASKS: Final = {
    kind: {
        "deeppavlov": "ask", "almond": "ask", "parlai": "nothing", "openai": "ask",
        "a2a": "state, data", "mcp": "ask, schema", "agui": "interrupt, ask",
    }
    for kind in (
        "yesno", "number", "date", "time", "location", "phone_number", "email_address", "contact",
        "picture", "password", "raw_string", "choice", "command", "generic",
    )
} | {
    "yesno": {
        "deeppavlov": "yes/no, ask", "almond": "ask", "parlai": "yes/no", "openai": "yes/no, ask",
        "a2a": "state, data", "mcp": "yes/no, ask, schema", "agui": "interrupt, ask",
    }
}  # fmt: skip
"""The forms of each kind of ask at each door."""


def tables() -> str:
    """Return the tables as the page shows them."""
    parts = []
    for what, rows in (("message", SHOWN), ("ask", ASKS)):
        head = f"| {what} | {' | '.join(f'`{door}`' for door in DOORS)} |"
        lines = [head, "|---" * (len(DOORS) + 1) + "|"]
        lines += [
            f"| `{kind}` | {' | '.join(cells[door] for door in DOORS)} |"
            for kind, cells in rows.items()
        ]
        parts.append("\n".join(lines))
    words = ["| word | meaning |", "|---|---|"]
    words += [f"| {word} | {meaning} |" for word, meaning in FORMS.items()]
    return "\n\n".join(["\n".join(words), *parts]) + "\n"
