"""Ellipsis: what a clause leaves out, put back from the clause beside it.

"What time is it in Tokyo? And in London?" asks two things, the second of them in two words.
"""

from __future__ import annotations

import re
from typing import Final

_PREPOSITION: Final = r"(?:in|at|for|on|from|of|to|into|until|till|since|with)"
_PHRASE: Final = re.compile(rf"{_PREPOSITION}\s+\w", re.IGNORECASE)
_NAME: Final = (
    r"(?P<name>(?!the\b|its\b|your?\b|me\b|an?\b|that\b|this\b)[\w.'-]+(?: [\w.'-]+){0,2})"
)
_AND_NAME: Final = re.compile(
    rf"(?:and\s+)?(?:what|how) about (?:(?:in|for|of) )?{_NAME}[?!.]*"
    rf"|and\s+{_NAME.replace('name', 'other')}\?+",
    re.IGNORECASE,
)
_LAST_PHRASE: Final = re.compile(
    r"(?P<head>.*\s)(?P<preposition>in|of|for|at)\s+[\w.'-]+(?: [\w.'-]+){0,2}[?!.\s]*",
    re.IGNORECASE,
)
_DATE: Final = re.compile(
    r"\b(?:\d{1,2}(?:st|nd|rd|th)?(?: of)? (?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)\w*"
    r"|(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]* \d{1,2}(?:st|nd|rd|th)?"
    r"|\d{4}-\d\d-\d\d|christmas(?: eve| day)?|easter(?: sunday| monday)?|new year'?s? (?:eve|day)"
    r"|thanksgiving|halloween)\b(?:,? \d{4}\b)?",
    re.IGNORECASE,
)
_THEN: Final = re.compile(
    r"\b(?P<before>until|till|to|before|after|since) (?:then|that (?:day|date)|it)\b",
    re.IGNORECASE,
)
_WORD: Final = re.compile(
    r"\b(?:does|defin(?:e|ition of)|meaning of|(?:syno|anto)nyms? (?:of|for)|opposite of|word"
    r"|spell)"
    r" (?:the word )?[\"“']?(?P<word>[a-z][a-z'-]*[a-z])",
    re.IGNORECASE,
)
_IT: Final = re.compile(
    r"\b(?P<before>use|of|for|spell|with) (?:it|that(?: word)?|this(?: word)?)\b", re.IGNORECASE
)
_OWNER: Final = re.compile(
    r".*\b(?:of|in|is|are|for|about) (?P<owner>[\w.'-]+(?: [\w.'-]+){0,3}?)[?!.\s]*", re.IGNORECASE
)
_ITS: Final = re.compile(r"\bits (?P<noun>[a-z]+)", re.IGNORECASE)
_THERE: Final = re.compile(r"\b(?P<verb>live|spoken|speak|used?|it) there\b", re.IGNORECASE)
_THEY: Final = re.compile(r"\bdo they (?P<verb>use|speak|have)\b", re.IGNORECASE)
_NOUN: Final = (
    r"(?:population|capital(?: city)?|currency|area|size|languages?|neighbou?rs|continent"
    r"|synonyms?|antonyms?|opposite|meaning|definition)"
)
_NOUN_ALONE: Final = re.compile(rf".*\b{_NOUN}", re.IGNORECASE)
_NOUN_OF: Final = re.compile(
    rf"(?:the )?{_NOUN} (?P<of>(?:of|for) [\w' .-]{{1,40}}?)[?!.]*", re.IGNORECASE
)


def leans_on(clause: str, before: list[str]) -> bool:
    """Whether the clause is no request of its own, but one together with the clauses before it."""
    return bool(before) and completed([*before, clause])[-1] != clause


def completed(clauses: list[str]) -> list[str]:
    """Return the clauses with what each leaves out put back."""
    full: list[str] = []
    for index, clause in enumerate(clauses):
        after = clauses[index + 1] if index + 1 < len(clauses) else ""
        of = _NOUN_OF.fullmatch(after)
        if of and _NOUN_ALONE.fullmatch(clause):
            clause = f"{clause} {of['of']}"
        full.append(_completed(clause, full[-1]) if full else clause)
    return full


def _completed(clause: str, before: str) -> str:
    return (
        _with_phrase(clause, before)
        or _with_name(clause, before)
        or _with_pronouns(clause, before)
        or clause
    )


def _with_phrase(clause: str, before: str) -> str:
    """ "And in London" after "what time is it in Tokyo"; "" if nothing like it was said."""
    bare = re.sub(r"^and\s+", "", clause, flags=re.IGNORECASE)
    if not _PHRASE.match(bare) or len(bare.split()) > 6:
        return ""
    preposition = bare.split()[0]
    said = re.compile(
        rf"(?P<head>.*\s){preposition}\s(?:(?!\s{_PREPOSITION}\s).)*", re.IGNORECASE
    ).match(before)
    return f"{said['head']}{bare}{before[said.end() :]}" if said else ""


def _with_name(clause: str, before: str) -> str:
    """ "And Chile?" and "what about Chile" after "what is the capital of Peru?"."""
    found, said = _AND_NAME.fullmatch(clause), _LAST_PHRASE.fullmatch(before)
    if not found or not said:
        return ""
    return f"{said['head']}{said['preposition']} {found['name'] or found['other']}"


def _with_pronouns(clause: str, before: str) -> str:
    """Say what "then", "it", "its", "there" and "they" stand for, where the clause before does."""
    if (date := _DATE.search(before)) and _THEN.search(clause):
        return _THEN.sub(lambda found: f"{found['before']} {date[0]}", clause)
    word, owned = _WORD.search(before), _OWNER.fullmatch(before)
    owner = word["word"] if word else owned["owner"] if owned else ""
    if not owner:
        return ""
    full = _IT.sub(lambda found: f"{found['before']} {owner}", clause) if word else clause
    full = _ITS.sub(lambda found: f"the {found['noun']} of {owner}", full)
    if not word:
        full = _THERE.sub(lambda found: f"{found['verb']} in {owner}", full)
        full = _THEY.sub(lambda found: f"does {owner} {found['verb']}", full)
    return full if full != clause else ""
