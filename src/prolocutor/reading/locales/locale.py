"""Locale: the words understood in a language, and the sentences said in it.

A locale is a folder named by its code (ISO 639-1) with two files: `words.yaml` and
`sentences.yaml`. Ours lie beside this file; users' folders are added by `add_folder`. A phrase may
be a part of a regular expression; case and accents are ignored in matching.
"""

from __future__ import annotations

import importlib
import re
from functools import cache
from pathlib import Path
from typing import Any, Final

import msgspec

from prolocutor.errors import ConfigError

Phrases = list[str]
_PART: Final = re.compile(r"\{(\w+)\}")
_GROUP: Final = re.compile(r"(?<!\\)\((?!\?)")
_FOLDERS: Final[dict[str, Path]] = {
    one.name: one
    for one in sorted(Path(__file__).parent.iterdir())
    if (one / "words.yaml").exists()
}
"""The folders by the codes of their languages."""


class Gender(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The pronouns of a grammatical gender, and the articles of its nouns."""

    pronouns: Phrases
    articles: Phrases


class Words(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The words understood of a language; docs/howto/your-language.md explains each field.

    A field without phrases is not understood in this language; other fields do not depend on it.
    """

    name: str
    frequent: str = ""
    letters: str = ""
    forms: Phrases = []
    endings: str = ""
    vowels: str = ""
    conjunction: str = ""
    choice: str = "|"
    nouns_capital: bool = False
    verbs_last: bool = False
    heads_last: bool = False
    joints: Phrases = []
    mends: Phrases = []
    closings: Phrases = []
    instead: Phrases = []
    another: Phrases = []
    undo: Phrases = []
    returns: Phrases = []
    recalls: Phrases = []
    suppositions: Phrases = []
    earlier: Phrases = []
    negation: Phrases = []
    contrast: Phrases = []
    in_place_of: Phrases = []
    fillers: Phrases = []
    hesitation: Phrases = []
    openers: Phrases = []
    remarks: Phrases = []
    speakers: Phrases = []
    telling: Phrases = []
    kindness: Phrases = []
    links: Phrases = []
    politeness: Phrases = []
    softeners: Phrases = []
    shorthand: list[tuple[str, str]] = []
    courtesy: Phrases = []
    again: Phrases = []
    back: Phrases = []
    both: Phrases = []
    other: Phrases = []
    ones: Phrases = []
    something: Phrases = []
    ordinals: list[Phrases] = []
    last: Phrases = []
    superlatives: Phrases = []
    articles: Phrases = []
    indefinite: Phrases = []
    owners: Phrases = []
    possessives: Phrases = []
    things: Phrases = []
    pointers: Phrases = []
    plurals: Phrases = []
    plural_nouns: Phrases = []
    genitives: Phrases = []
    owning: Phrases = []
    persons: Phrases = []
    asks_who: Phrases = []
    asks_where: Phrases = []
    of_goods: Phrases = []
    entity_types: dict[str, str] = {}
    genders: list[Gender] = []
    inversion: str = ""
    subjectless: Phrases = []
    clitics: Phrases = []
    elisions: list[tuple[str, str]] = []
    places: Phrases = []
    exists: Phrases = []
    comparatives: Phrases = []
    inflections: Phrases = []
    agreeing: Phrases = []
    times: Phrases = []
    place_lead: str = ""
    prepositions: list[Phrases] = []
    questions: Phrases = []
    determiners: Phrases = []
    adverbs: Phrases = []
    conditions: Phrases = []
    reasons: Phrases = []
    how_much: Phrases = []
    counts: Phrases = []
    degrees: Phrases = []
    sizes: Phrases = []
    comparing: Phrases = []
    less: Phrases = []
    ranking: list[tuple[str, str]] = []
    predicates: Phrases = []
    goes: Phrases = []
    particles: Phrases = []
    verbs: Phrases = []
    relations: Phrases = []
    known: Phrases = []
    demonstratives: Phrases = []
    forms_of_be: Phrases = []
    helpers: Phrases = []
    subjects: Phrases = []
    orders: Phrases = []
    statements: Phrases = []
    requests: Phrases = []
    restarts: Phrases = []
    lead_ins: Phrases = []
    sequels: Phrases = []
    greetings: Phrases = []
    comparisons: Phrases = []
    operators: Phrases = []
    small: Phrases = []
    idioms: Phrases = []
    dummies: Phrases = []
    stranded: Phrases = []
    days: Phrases = []
    bare_days: Phrases = []
    months: Phrases = []
    feasts: Phrases = []
    units: Phrases = []
    hours: Phrases = []
    daytimes: Phrases = []
    numbers: Phrases = []
    contractions: list[tuple[str, str]] = []
    owned: str = ""
    costs: str = ""
    after: str = ""
    afterwards: Phrases = []
    dwellers: str = ""
    replies: dict[str, str] = {}


def add_folder(folder: Path) -> None:
    """Add the languages in a folder of folders; raise `ConfigError` for an unreadable language."""
    if not folder.is_dir():
        raise ConfigError(f"there is no folder {folder}", key="languages")
    for one in sorted(folder.iterdir()):
        if (one / "words.yaml").exists() and _FOLDERS.get(one.name) != one:
            _FOLDERS[one.name] = one
            codes.cache_clear()
            find_words.cache_clear()
            find_sentences.cache_clear()
            find_words(one.name)
            find_sentences(one.name)


@cache
def codes() -> tuple[str, ...]:
    """Return the codes of all languages with a folder."""
    return tuple(_FOLDERS)


@cache
def find_words(code: str) -> Words | None:
    """Return the words of a language; None for a language without a folder."""
    folder = _FOLDERS.get(code)
    return None if folder is None else _read(folder / "words.yaml", Words)


def reply_wordings(name: str) -> list[str]:
    """Return the whole wordings of a reply, such as "nevermind", in all languages."""
    written = [words.replies.get(name, "") for code in codes() if (words := find_words(code))]
    return [" ".join(one.split()) for text in written for one in text.split(",") if one.strip()]


@cache
def find_sentences(code: str) -> dict[str, str]:
    """Return the sentences of a language by their names; empty for a language without a file."""
    folder = _FOLDERS.get(code)
    file = None if folder is None else folder / "sentences.yaml"
    return _read(file, dict[str, str]) if file is not None and file.exists() else {}


def sentence(name: str, code: str | None = None, **parts: str) -> str:
    """Return a sentence in a language, else in English, with `{part}` replaced by each part."""
    said = find_sentences((code or "en")[:2]).get(name) or find_sentences("en")[name]
    return _PART.sub(lambda found: parts.get(found[1], found[0]), said) if parts else said


def _read(file: Path, kind: Any) -> Any:
    yaml: Any = importlib.import_module("yaml")  # not before a language is asked for
    try:
        loader = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
        given = yaml.load(file.read_text(encoding="utf-8"), loader)
        return msgspec.convert(
            _remove_groups(given) if kind is Words else given, kind, strict=False
        )
    except (OSError, yaml.YAMLError, msgspec.ValidationError) as error:
        raise ConfigError(f"{file}: {error}", key="languages") from None


def _remove_groups(given: Any) -> Any:
    """Make the groups "(...)" in regular expressions capture nothing."""
    if isinstance(given, str):
        return _GROUP.sub("(?:", given)
    if isinstance(given, list):
        return [_remove_groups(one) for one in given]
    return (
        {k: _remove_groups(one) for k, one in given.items()} if isinstance(given, dict) else given
    )
