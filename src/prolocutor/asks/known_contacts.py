"""Known contacts: the number or address of a person who is named."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from prolocutor.asks.answers import Ambiguous, Contact, Understood
from prolocutor.reading.plain_text import plain

LEAD: Final = re.compile(r"^(?:to|for|with|from|call|text|it's for|my friend|@) ?(?=\S)")


def find_contact(said: str, contacts: Iterable[Contact]) -> Understood | Ambiguous | None:
    """Return the number or address of the contact whom a plain text names; None for nobody."""
    candidates = list(contacts)
    for name in dict.fromkeys((said, LEAD.sub("", said, count=1))):
        by_value = {contact.value: contact for contact in _find_contacts(name, candidates)}
        if len(by_value) == 1:
            return Understood(next(iter(by_value)))
        if by_value:
            titles = [f"{one.name} ({one.value})" for one in by_value.values()]
            return Ambiguous(f"Several contacts match “{name}”. Which one?", titles, [*by_value])
    return None


def _find_contacts(name: str, contacts: list[Contact]) -> list[Contact]:
    if not name:
        return []
    whole = [contact for contact in contacts if plain(contact.name) == name]
    return whole or [contact for contact in contacts if name in plain(contact.name).split()]
