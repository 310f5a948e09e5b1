"""Reads e-mail addresses, written or spoken ("ann at example dot org")."""

from __future__ import annotations

import re
import unicodedata
from typing import Any, ClassVar, Final

from prolocutor.asks.answers import AnswerContext, AskOptions, NotUnderstood, Outcome, Understood
from prolocutor.asks.known_contacts import find_contact
from prolocutor.dialog.plain import JsonObject
from prolocutor.reading.plain_text import MAX_CHARACTERS, bare

_LEAD: Final = re.compile(
    r"^(?:well|um+|uh+|oh|sure|ok(?:ay)?|[\s,])*"
    r"(?:(?:my|the|his|her|their) )?(?:e-?mail(?: address)?|address|it)?(?:'s| is|:)?\s+(?=\S)"
    r"|^mailto:|^(?:write|mail|send it)(?: me| him| her)?(?: to)?(?: me| him| her)?(?: at)? ",
    re.IGNORECASE,
)
_ADDRESS: Final = re.compile(
    r"[\w.!#$%&'*+/=?^`{|}~-]{1,64}@(?:[^\W_](?:[\w-]{0,61}[^\W_])?\.){1,8}[^\W\d_][\w-]{1,62}"
)
_NAMED: Final = re.compile(r"[^<>]{0,100}<([^<>]+)>")
_SPOKEN: Final = (
    (re.compile(r"\s*(?:\bat\b|\(at\)|\[at\])\s*", re.IGNORECASE), "@"),
    (re.compile(r"\s+(?:dot|point|period)\s+|\s*[(\[]dot[)\]]\s*", re.IGNORECASE), "."),
    (re.compile(r"\s+underscore\s+", re.IGNORECASE), "_"),
    (re.compile(r"\s+(?:dash|hyphen|minus)\s+", re.IGNORECASE), "-"),
    (re.compile(r"\s+plus\s+", re.IGNORECASE), "+"),
)


def read(text: str, context: AnswerContext) -> Outcome:
    """Read an e-mail address, its domain in lower case, or the name of a known contact."""
    address = find_email_address(text)
    if address is not None:
        return Understood(address)
    meant = find_contact(
        bare(text), (contact for contact in context.contacts if "@" in contact.value)
    )
    return NotUnderstood(EmailAddress.hint) if meant is None else meant


def take(type_name: str, value: Any, context: AnswerContext) -> Outcome:
    """Take a parsed e-mail address, or the text of an address."""
    if type_name in {"email_address", "contact", "raw_string"} and isinstance(value, str):
        return read(value, context)
    return NotUnderstood(EmailAddress.hint)


def find_email_address(text: str) -> str | None:
    """Return a whole text as an e-mail address; None for other texts."""
    address = unicodedata.normalize("NFKC", text[: MAX_CHARACTERS + 1]).strip()
    if len(address) > MAX_CHARACTERS or len(text) > MAX_CHARACTERS:
        return None
    if named := _NAMED.fullmatch(address):
        address = named[1]
    for form in (address, _LEAD.sub("", address, count=1)):
        for candidate in (form, _write_signs(form)):
            if _is_address(candidate := candidate.lstrip(' "').rstrip(' .,;!"')):
                local, _, domain = candidate.rpartition("@")
                return f"{local}@{domain.lower()}"
    return None


def _write_signs(said: str) -> str:
    for spoken, sign in _SPOKEN:
        said = spoken.sub(sign, said)
    return said


def _is_address(text: str) -> bool:
    if not _ADDRESS.fullmatch(text):
        return False
    local = text.partition("@")[0]
    return ".." not in local and not local.startswith(".") and not local.endswith(".")


class EmailAddress(AskOptions, frozen=True):
    """An e-mail address."""

    hint: ClassVar[str] = "I'm looking for an email address."
    schema: ClassVar[JsonObject] = {"type": "string", "format": "email"}
    read, take = staticmethod(read), staticmethod(take)
