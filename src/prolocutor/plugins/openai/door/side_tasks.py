"""Side tasks: prompts for titles, tags and follow-ups that Open WebUI sends to any model.

They are not words of a person, and no agent was made for them. Such a prompt is recognized by its
form: one message that begins with `### Task:`, shows the chat between `<chat_history>` and
`</chat_history>`, and names the key of the JSON that it wants, as in `{ "title": "..." }`.

Source: the default templates of Open WebUI (`open_webui/config.py`), 0.6.
"""

from __future__ import annotations

import re
from typing import Any, Final

import msgspec

from prolocutor.dialog import plain
from prolocutor.plugins.openai.door.requests import ChatInput

_KEY: Final = re.compile(r'\{\s*"(title|tags|follow_ups|queries|text)"\s*:')
_TITLE_WORDS: Final = 6
_TITLE_LENGTH: Final = 60


class SideTask(msgspec.Struct, frozen=True):
    """A side task for a chat: the wanted key of the JSON, and the person's first message."""

    key: str
    first: str

    def answer(self) -> str:
        """Return an answer by rule: the first words as title, and nothing else."""
        value: Any = [] if self.key in ("tags", "follow_ups", "queries") else ""
        if self.key == "title":
            title = " ".join(self.first.split()[:_TITLE_WORDS])[:_TITLE_LENGTH].rstrip(" .,;:")
            value = title[:1].upper() + title[1:]
        return plain.encode({self.key: value}).decode()


def find_side_task(given: ChatInput) -> SideTask | None:
    """Return the side task of a request, None if a person speaks."""
    if given.history or given.results or not given.text.startswith("### Task:"):
        return None
    after = given.text.partition("<chat_history>")[2]
    chat, end, _ = after.partition("</chat_history>")
    key = _KEY.search(given.text)
    if not end or key is None:
        return None
    lines = [line for line in chat.splitlines() if line.strip()]
    first = next((line for line in lines if line.startswith("USER:")), "".join(lines[:1]))
    return SideTask(key[1], first.removeprefix("USER:").strip())
