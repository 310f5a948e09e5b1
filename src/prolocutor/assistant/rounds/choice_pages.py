"""Long lists of choices, page by page."""

from __future__ import annotations

from typing import Any, Final

import msgspec

from prolocutor.dialog.rounds import Forward, OfferedChoice, PendingAsk

PAGE: Final = 9
"""Choices on one page."""


def last_page(waiting: PendingAsk) -> int:
    """Return the number of the last page, counted from 0."""
    return max(0, len(waiting.choices) - 1) // PAGE


def shown(waiting: PendingAsk) -> list[dict[str, Any]]:
    """Return the page of choices that was shown last, with buttons for the next and previous."""
    first = waiting.page * PAGE
    choices = [
        _choice(first + index, offered)
        for index, offered in enumerate(waiting.choices[first : first + PAGE])
    ]
    return [*choices, *_buttons(waiting)]


def first_page(messages: list[dict[str, Any]], waiting: PendingAsk) -> list[dict[str, Any]]:
    """Return messages with the first page of their choices; `forward` is not shown."""
    if len(waiting.choices) <= PAGE and not any(one.forward for one in waiting.choices):
        return messages
    fitting = [
        {key: value for key, value in one.items() if key != "forward"}
        for one in messages
        if one["type"] != "choice" or one["idx"] < PAGE
    ]
    return [*fitting, *_buttons(waiting)]


def offered(messages: list[dict[str, Any]]) -> list[OfferedChoice]:
    """Return the choices among messages."""
    return [
        OfferedChoice(
            one["title"],
            one["text"] if isinstance(one.get("text"), str) else "",
            _forward(one.get("forward")),
        )
        for one in messages
        if one["type"] == "choice"
    ]


def _forward(given: Any) -> Forward | None:
    try:
        return None if given is None else msgspec.convert(given, Forward)
    except msgspec.ValidationError:
        return None


def _choice(index: int, offered: OfferedChoice) -> dict[str, Any]:
    choice: dict[str, Any] = {"type": "choice", "idx": index, "title": offered.title}
    return {**choice, "text": offered.text} if offered.text else choice


def _buttons(waiting: PendingAsk) -> list[dict[str, Any]]:
    more = [_button("More", "more")] if waiting.page < last_page(waiting) else []
    back = [_button("Back", "back")] if waiting.page else []
    return [*more, *back]


def _button(title: str, special: str) -> dict[str, Any]:
    code = ["bookkeeping", "special", f"special:{special}"]
    return {"type": "button", "title": title, "json": {"code": code, "entities": {}}}
