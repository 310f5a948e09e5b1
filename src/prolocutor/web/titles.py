"""Titles of conversations: the person's own, else made of the first words with a subject."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Final

import msgspec

from prolocutor.catalog import Catalog
from prolocutor.contracts.store import RecordStore
from prolocutor.reading.languages import is_courtesy

GIVEN_TITLE: Final = "conversation-title"
"""The kind of the records with the titles that persons gave, by the name of the dialog."""

TITLE_CHARACTERS: Final = 40
"""Characters of a title that is made of the first words."""

MIN_TITLE_WORDS: Final = 3
"""Words that a text needs for a title, unless the conversation has only shorter texts."""

TITLES: Final = Catalog[Callable[[str], str]]("way to make titles", "prolocutor.titles")
"""Functions from the words of a message to their subject, "" for words without a subject."""

UPLOADED: Final = re.compile(r"(?:https?://[^\s/]+)?/uploads/[0-9a-f]{32}\.(?P<kind>[a-z]+)(?!\S)")
"""The address of an uploaded file, which the page adds to the words of a message."""

_KINDS_OF_FILE: Final = {"pdf": "A PDF", "txt": "A text", "csv": "A table"}


async def given_titles(store: RecordStore, user: str) -> dict[str, str]:
    """Return the titles that a person gave, by the name of the dialog."""
    stored = await store.records(user, GIVEN_TITLE)
    return {name: msgspec.json.decode(body, type=str) for name, body in stored.items()}


def title_of(said: Iterable[object]) -> str:
    """Return the title of a conversation in which a person said this, "" without words.

    It is made of the first text that says enough, rather than of a greeting.
    """
    texts = [one for one in said if isinstance(one, str) and one]
    return make_title(next(filter(says_enough, texts), next(iter(texts), "")))


def says_enough(said: object) -> bool:
    """Return whether the subject of a conversation can be read from this text."""
    if not isinstance(said, str) or said.startswith("\\"):
        return False
    return len(said.split()) >= MIN_TITLE_WORDS and not is_courtesy(said)


@lru_cache(maxsize=1_000)
def make_title(words: str) -> str:
    """Return the title of a conversation that begins with these words."""
    text = drop_uploads(words)
    titles = (make(text) for _, make in TITLES.import_all())
    return first_words(next(filter(None, titles), text))


def first_words(text: str) -> str:
    """Return the beginning of a text as a title, cut between words if possible."""
    words = " ".join(text.split())
    if len(words) <= TITLE_CHARACTERS:
        return words
    cut, _, rest = words[:TITLE_CHARACTERS].rpartition(" ")
    return f"{cut if len(cut) > len(rest) else words[: TITLE_CHARACTERS - 1]}…"


def drop_uploads(text: str) -> str:
    """Return a text without addresses of uploaded files, or the kind of file if nothing is left."""
    rest = UPLOADED.sub("", text).strip()
    only = UPLOADED.search(text) if not rest else None
    return rest if only is None else _KINDS_OF_FILE.get(only["kind"], "A picture")
