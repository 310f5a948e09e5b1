"""Reads phone numbers, in figures or spelled out, and writes them as E.164."""

from __future__ import annotations

import re
from typing import Any, ClassVar, Final

from prolocutor.asks.answers import (
    AnswerContext,
    AskOptions,
    NotUnderstood,
    Outcome,
    Understood,
    extra_hint,
)
from prolocutor.asks.known_contacts import find_contact
from prolocutor.dialog.plain import JsonObject
from prolocutor.reading import libraries
from prolocutor.reading.plain_text import bare

_LEAD: Final = re.compile(
    r"^(?:(?:my|the|his|her|their) )?(?:(?:phone|mobile|cell|work|home) ?)*(?:number|phone|mobile)?"
    r"(?: is)?[ :]+(?=[+\d(])|^(?:call|ring|text|phone|reach)(?: me| him| her)?"
    r"(?: (?:at|on|under))? "
    r"|^(?:tel|phone|callto|sms):"
)
_FIGURES: Final = re.compile(r"(?:\+|00)?[\d ()./-]{3,40}")
_SPELLED: Final = {
    word: str(n)
    for n, word in enumerate("zero one two three four five six seven eight nine".split())
} | {"oh": "0", "o": "0", "plus": "+"}
_REPEATED: Final = {"double": 2, "triple": 3}
_MIN_NATIONAL_NUMBER: Final = 100_000
"""The least national number that is taken without a country code."""

_COUNTRY: Final = "Please say it with its country code, as in +49 30 123456."


def read(text: str, context: AnswerContext) -> Outcome:
    """Read a phone number; without a `+` it is of the person's region."""
    number = e164(bare(text), context.region)
    if number is not None:
        return Understood(number)
    contacts = [contact for contact in context.contacts if "@" not in contact.value]
    meant = find_contact(bare(text), contacts)
    if meant is not None:
        return meant
    return NotUnderstood(_hint(bare(text), context.region))


def take(type_name: str, value: Any, context: AnswerContext) -> Outcome:
    """Take a parsed phone number, or the text of a number."""
    if type_name in {"phone_number", "contact", "raw_string"} and isinstance(value, str):
        return read(value, context)
    return NotUnderstood(PhoneNumber.hint)


def e164(said: str, region: str | None) -> str | None:
    """Return a plain text as a phone number in E.164; None for any other text."""
    figures = _figures(_LEAD.sub("", said, count=1))
    if not _FIGURES.fullmatch(figures):
        return None
    library = libraries.phonenumbers()
    if library is None:
        return _international(figures)
    if figures.startswith("00"):
        figures = "+" + figures[2:]
    try:
        number = library.parse(figures, region.upper() if region else None)
    except library.NumberParseException:
        return None
    short = not figures.startswith("+") and number.national_number < _MIN_NATIONAL_NUMBER
    if short or not library.is_possible_number(number):
        return None
    return str(library.format_number(number, library.PhoneNumberFormat.E164))


def _international(figures: str) -> str | None:
    digits = re.sub(r"\D", "", figures)
    if figures.startswith("00"):
        digits = digits[2:]
    elif not figures.startswith("+"):
        return None
    return f"+{digits}" if 7 <= len(digits) <= 15 and digits.isascii() else None


def _figures(said: str) -> str:
    """Return spelled-out figures as digits: "plus four nine double three" -> "+4933"."""
    written: list[str] = []
    times = 1
    for word in re.split(r"[ ,-]+", said):
        if word in _REPEATED:
            times = _REPEATED[word]
        elif word in _SPELLED:
            written.append(_SPELLED[word] * times)
            times = 1
        else:
            return said
    return "".join(written)


def _hint(said: str, region: str | None) -> str:
    figures = _LEAD.sub("", said, count=1)
    wanted = PhoneNumber.hint
    national = _FIGURES.fullmatch(figures) and not figures.startswith(("+", "00"))
    if not national:
        return wanted
    if libraries.phonenumbers() is None:
        return f"{wanted} {extra_hint('Numbers without a country code', '+49 30 123')}"
    return wanted if region else f"{wanted} {_COUNTRY}"


class PhoneNumber(AskOptions, frozen=True):
    """A phone number, as E.164 has it."""

    hint: ClassVar[str] = "I'm looking for a phone number."
    schema: ClassVar[JsonObject] = {
        "type": "string",
        "description": "A phone number, best with its country code.",
    }
    is_telling: ClassVar[bool] = True
    read, take = staticmethod(read), staticmethod(take)
