"""Phrasings of skills: on their cards, or in files that cards name."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

import msgspec
import yaml

from prolocutor.config.fields import Findings
from prolocutor.config.loading import Survey
from prolocutor.errors import ConfigError
from prolocutor.plan.pipeline import Stage
from prolocutor.plugins.language.follow_up.phrasings.phrasing import SLOT, PhrasedIntent, pieces_of
from prolocutor.reading.locales.locale import codes

KEY: Final = "phrasings"
"""The member of a card that has phrasings, or names a file."""

LANGUAGE: Final = "{language}"
"""Stands in the name of a file for the code of a language."""

MAX_BYTES: Final = 2_000_000

_NO_SLOT: Final = re.compile(r"\{[^{}]*\}?|\}")
"""Braces that are no slot."""

_LOADER: Final = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class Phrasings(msgspec.Struct, frozen=True):
    """The phrasings of a skill in a language.

    `values` are examples of values of slots by their kinds, `none` sentences that no skill answers,
    `around` words that are said beside requests.
    """

    intents: list[PhrasedIntent] = []
    values: dict[str, list[str]] = {}
    none: list[str] = []
    around: list[str] = []


class _WrittenIntent(msgspec.Struct, forbid_unknown_fields=True):
    """An intent as it is written: requests that the skill understands, and what people say."""

    ask: str | list[str]
    said: str | list[str] = ""


class _SharedPhrasings(msgspec.Struct):
    """What a file has for all its skills."""

    values: dict[str, list[str]] = {}
    none: str | list[str] = ""
    around: str | list[str] = ""


def phrasings_of(skill: str, given: object, code: str) -> Phrasings:
    """Return a skill's phrasings in a language (ISO 639-1).

    `given` is what its card has: intents, or the name of a file with intents, or with a map of
    skills to theirs. Raise `ConfigError` where it cannot be read.
    """
    if given is None:
        return Phrasings()
    if not isinstance(given, str):
        return Phrasings(_intents(skill, given))
    path = file_of(given, code)
    if LANGUAGE in given and not path.exists():
        return Phrasings()
    read = _read(path)
    if isinstance(read, list):
        return Phrasings(_intents(skill, read))
    try:
        shared = msgspec.convert(read, _SharedPhrasings)
    except msgspec.ValidationError as error:
        raise ConfigError(f"{path}: {error}") from None
    intents = _intents(skill, read.get(skill) or [])
    return Phrasings(intents, shared.values, _lines(shared.none), _lines(shared.around))


def file_of(given: str, code: str) -> Path:
    """Return the file of a language that a card names."""
    return Path(given.replace(LANGUAGE, code))


def _read(path: Path) -> Any:
    try:
        state = path.stat()
        return _read_version(path, state.st_mtime_ns, state.st_size)
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror}") from None
    except (yaml.YAMLError, ValueError) as error:  # a date that does not exist is a `ValueError`
        raise ConfigError(f"{path} is not YAML: {error}") from None


@lru_cache(maxsize=16)
def _read_version(path: Path, changed: int, size: int) -> Any:
    """Return the content of a file as it is since it was `changed`, in nanoseconds."""
    read = yaml.load(path.read_bytes(), Loader=_LOADER) if size <= MAX_BYTES else None
    if not isinstance(read, list | dict):
        raise ConfigError(f"{path} is not a list of intents, or a map of skills, of at most 2 MB")
    return read


def _intents(skill: str, given: object) -> list[PhrasedIntent]:
    try:
        written = msgspec.convert(given, list[_WrittenIntent])
    except msgspec.ValidationError as error:
        raise ConfigError(f"the phrasings of {skill!r}: {error}") from None
    found = []
    for one in written:
        asks = _lines([one.ask] if isinstance(one.ask, str) else one.ask)
        if not asks:
            raise ConfigError(f"the phrasings of {skill!r}: an intent without an `ask`")
        lines = [*_lines(one.said), *asks]
        for line in lines:
            if slot := _NO_SLOT.search(SLOT.sub("", line)):
                raise ConfigError(
                    f"the phrasings of {skill!r}: {slot[0]!r} in {line.strip()!r} is no slot; a "
                    "slot is small letters and maybe a number in braces, such as {place2}"
                )
        said = [pieces_of(line) for line in lines]
        found.append(PhrasedIntent(skill, asks, [words for words in said if words]))
    return found


def _lines(given: str | list[str]) -> list[str]:
    every = given.splitlines() if isinstance(given, str) else given
    return [one for one in every if one.strip()]


def check_phrasings(loaded: Survey, findings: Findings) -> Iterator[tuple[str, str]]:
    """Record the phrasings of cards that cannot be read, or say nothing of their skill.

    Yield warnings of those that have no effect.
    """
    for skill in loaded.settings.pipeline.services_at(Stage.SKILL):
        given = skill.card_members.get(KEY)
        try:
            every = [phrasings_of(skill.name, given, code) for code in codes()]
            if isinstance(given, str) and not any(one.intents for one in every):
                raise ConfigError(f"{given} has no phrasings of {skill.name!r} in any language")
        except ConfigError as error:
            findings.add(loaded.find(f"skills.{skill.name}.card.{KEY}"), error.what)
        if given and not skill.rewrites:
            what = "a skill without `rewrites: true` is not asked again in words of its phrasings"
            yield f"skills.{skill.name}.card.{KEY}", what
