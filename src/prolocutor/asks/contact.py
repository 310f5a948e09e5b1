"""Reads contacts: a phone number, an e-mail address, or a name."""

from __future__ import annotations

from typing import Any

from prolocutor.asks.answers import AnswerContext, NotUnderstood, Outcome, Understood
from prolocutor.asks.email_address import address_of
from prolocutor.asks.hints import hint_for
from prolocutor.asks.known_contacts import LEAD, of_contact
from prolocutor.asks.phone_number import e164
from prolocutor.reading.plain_text import as_written, bare, is_name


def read(text: str, context: AnswerContext) -> Outcome:
    """Read a contact: E.164, an e-mail address, or a name that is not among the known contacts."""
    reached = address_of(text) or e164(bare(text), context.region)
    if reached is not None:
        return Understood(reached)
    said = bare(text)
    meant = of_contact(said, context.contacts)
    if meant is not None:
        return meant
    name = LEAD.sub("", said, count=1)
    if is_name(name, words=4):
        return Understood(as_written(text, name))
    return NotUnderstood(hint_for("contact"))


def take(type_name: str, value: Any, context: AnswerContext) -> Outcome:
    """Take a parsed contact, phone number or e-mail address, or a text that is one of them."""
    kinds = {"contact", "phone_number", "email_address", "raw_string"}
    if type_name in kinds and isinstance(value, str) and value.strip():
        value = value.removeprefix("phone:").removeprefix("email:")
        return read(value, context)
    return NotUnderstood(hint_for("contact"))
