"""Titles: the subject of a request in a few words, for lists of conversations.

"Could you please tell me the capital of Peru?" has the title "Capital of Peru".
"""

from __future__ import annotations

import re
from typing import Final

from prolocutor.plugins.language.follow_up.framing import request_in
from prolocutor.plugins.language.follow_up.grammar import (
    TRIMMED,
    LanguageGrammar,
    Part,
    grammar_or_english,
    plain_of,
)
from prolocutor.plugins.language.follow_up.normalizing import without_courtesy
from prolocutor.plugins.language.together.clauses import split_clauses
from prolocutor.reading.languages import is_courtesy, language_of_request

MAX_CHARACTERS: Final = 300
"""Characters of a text that are read for its title."""

_WORD: Final = re.compile(r"[\w']+")


def title_of(text: str) -> str:
    """Return the subject of the first request in a text; "" for courtesy alone.

    >>> title_of("Please set a timer for 5 minutes"), title_of("what time is it in Oslo?")
    ('Set a timer for 5 minutes', 'Time in Oslo')
    """
    said = " ".join(text[:MAX_CHARACTERS].split())
    if is_courtesy(said):
        return ""
    told = language_of_request(said)
    grammar = grammar_or_english(told.code if told else "")
    request = next((one for one in split_clauses(said) if not is_courtesy(one)), said)
    request = without_courtesy(request_in(request, grammar), grammar).strip(TRIMMED)
    joined = grammar.joint.match(plain_of(request))  # "and what is ...": after a greeting
    request = _subject(request[joined.end() if joined else 0 :] or request, grammar).strip(TRIMMED)
    opens = request.partition(" ")[0].replace("'", "").isalpha()  # and is no address or code
    return request[:1].upper() + request[1:] if opens else request


def _subject(request: str, grammar: LanguageGrammar) -> str:
    """Return a request without the words that only ask; all of it if its verb says something."""
    parts = grammar.slots(request)
    start = _order_end(request, parts, grammar)
    nouns = parts[1:] if start else parts
    if not nouns or nouns[0].lead >= 0 or any(one.kind == "verb" for one in nouns):
        return request
    noun, end = nouns[0], nouns[1].whole[0] if nouns[1:] else len(request)
    asking = _words(request[start : noun.span[0]]) - grammar.definite - grammar.indefinite
    if asking - grammar.questions - grammar.be:
        return request
    between, last = _words(request[noun.span[1] : end]), request.rpartition(" ")[2]
    is_joined = not between.isdisjoint(grammar.be)
    if is_joined and nouns[1:] and nouns[1].lead < 0:
        return request  # "which river is longer"
    ends = plain_of(last) in grammar.be  # "was die Hauptstadt von Peru ist"
    asks_of_it = any(one in grammar.be or "'" in one for one in asking) or ends
    if asking and not asks_of_it and not is_joined:
        return request
    dummies = grammar.be | grammar.things | grammar.subjects
    tail = request[noun.span[1] :]
    if between and between <= dummies:
        tail = f" {request[end:]}"
    name, _, stranded = noun.text.rpartition(" ")
    name = name if name and stranded in grammar.words.stranded else noun.text
    subject = f"{name}{tail}".removesuffix(last if ends else "").strip()
    return subject if " " in subject else request


def _order_end(request: str, parts: list[Part], grammar: LanguageGrammar) -> int:
    """Return where the order ends that only asks to be told, as "give me" does; 0 if none does."""
    if len(parts) < 2 or parts[0].kind != "verb" or parts[1].lead >= 0:
        return 0
    whom = _words(request[parts[0].span[1] : parts[1].start])
    return parts[1].start if whom and whom <= {*map(plain_of, grammar.words.speakers)} else 0


def _words(text: str) -> set[str]:
    return {*_WORD.findall(plain_of(text))}
