"""Reads contacts: a phone number, an e-mail address, or a name."""

from __future__ import annotations

from typing import Any, ClassVar

from prolocutor.asks.answers import AnswerContext, AskOptions, NotUnderstood, Outcome, Understood
from prolocutor.asks.known_contacts import LEAD, find_contact
from prolocutor.dialog.plain import JsonObject
from prolocutor.plugins.further_asks.email_address import find_email_address
from prolocutor.plugins.further_asks.phone_number import e164
from prolocutor.reading.plain_text import bare, is_name, original_text


def read(text: str, context: AnswerContext) -> Outcome:
    """Read a contact: E.164, an e-mail address, or a name outside of the known contacts."""
    reached = find_email_address(text) or e164(bare(text), context.region)
    if reached is not None:
        return Understood(reached)
    bare_text = bare(text)
    meant = find_contact(bare_text, context.contacts)
    if meant is not None:
        return meant
    name = LEAD.sub("", bare_text, count=1)
    if is_name(name, words=4):
        return Understood(original_text(text, name))
    return NotUnderstood(ContactAsk.hint)


def take(type_name: str, value: Any, context: AnswerContext) -> Outcome:
    """Take a parsed contact, phone number or e-mail address, or such a text."""
    kinds = {"contact", "phone_number", "email_address", "raw_string"}
    if type_name in kinds and isinstance(value, str) and value.strip():
        value = value.removeprefix("phone:").removeprefix("email:")
        return read(value, context)
    return NotUnderstood(ContactAsk.hint)


class ContactAsk(AskOptions, frozen=True):
    """A phone number, an e-mail address, or a name."""

    hint: ClassVar[str] = "I'm looking for a contact: a name, a phone number or an email address."
    schema: ClassVar[JsonObject] = {
        "type": "string",
        "description": "A name, a phone number or an e-mail address.",
    }
    is_name: ClassVar[bool] = True
    read, take = staticmethod(read), staticmethod(take)
