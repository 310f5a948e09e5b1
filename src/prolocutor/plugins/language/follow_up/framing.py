"""Framing: the request in a text, without the chat before and after it.

Greetings, thanks and the like are told by the phrases of a language. Everything else is told by its
form: a clause without a request in which the speakers talk of themselves ("my son and I have a
bet:"), words that end in a verb of telling before a question ("I'd be glad if you told me"), words
of kindness before an order ("be so good as to").
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from typing import Final

from prolocutor.plugins.language.follow_up.grammar import (
    TO,
    TRIMMED,
    LanguageGrammar,
    any_of,
    grammar_of,
    pattern_of,
    plain_of,
)

MOST_LEAD: Final = 160
"""Characters before a request that are looked at."""

LEAST_INDIRECT: Final = 4
"""Words of the shortest indirect question that is made a direct one."""

_GAP: Final = r"[\s,.!:;]+"
_MARKS: Final = r"[,.!?;:…–-]"
_BOUNDARY: Final = re.compile(r"[,.!?;:…–-]+[\s¡¿]+|\s[–-]+\s")
_SPACE: Final = re.compile(r"(?<=\w)[,;]?\s+(?=[^\W\d_])")
_ENDED: Final = re.compile(r"[,.!?:;…]\s*$")
_INNER_NAME: Final = re.compile(r"(?<![.!?¡¿…]\s)(?<=[\w,;] )(?!I\b)[A-Z][\w'-]*")
_DIGIT: Final = re.compile(r"\d")


def as_direct_question(text: str, grammar: LanguageGrammar) -> str:
    """Return an indirect question as a direct one: "how much 12 x 12 is" as "how much is 12 x 12".

    Any other text is returned as it is.
    """
    words = text.rstrip(TRIMMED).split()
    if len(words) < LEAST_INDIRECT - grammar.words.verbs_last:
        return text
    if plain_of(words[0]) not in grammar.questions:
        return text
    plain = [plain_of(word) for word in words]
    if grammar.words.verbs_last:
        return _with_verb_second(text, words, plain, grammar)
    measures = plain[0] in {one.split()[0] for one in grammar.words.how_much}
    determines = plain[0] in grammar.determining and plain[1] not in grammar.definite
    lead = 2 if measures else 1
    verbs = grammar.auxiliaries
    inner = plain[lead:-1]
    if plain[-1] in grammar.be and plain[-2] in grammar.helpers and not verbs & {*plain[lead:-2]}:
        return " ".join([*words[:lead], words[-2], *words[lead:-2], words[-1]])
    if plain[-1] not in grammar.be or (determines and not measures) or verbs & {*inner}:
        return text
    if (
        inner[-1] in grammar.things | grammar.persons | grammar.subjects
        and grammar.words.heads_last
    ):
        return text
    return " ".join([*words[:lead], words[-1], *words[lead:-1]])


def _with_verb_second(
    text: str, words: list[str], plain: list[str], grammar: LanguageGrammar
) -> str:
    """Return a question whose verb is at its end with the verb after what is asked for: "wie lange
    *dauert* die Fahrt".
    """
    first = grammar.any_article | grammar.possessives | grammar.subjects
    first |= grammar.things | grammar.persons | grammar.leads.keys()
    asked = 3 if " ".join(plain[:2]) in grammar.determining else 2
    asked = 1 if asked == 2 and plain[1] in first else asked
    verb = plain[-1]
    acts = verb in grammar.auxiliaries or grammar.is_verb(verb)
    finite = words[-1].islower() and _FINITE.search(verb) is not None
    acts = acts or (finite and verb not in grammar.function)
    subject = len(plain) > asked + 1 and (plain[asked] in first or words[asked][0].isupper())
    inner = {*plain[asked:-1]} & grammar.auxiliaries
    if not acts or not subject or inner:
        return text
    apart = None if grammar.is_verb(verb) else _SEPARABLE.fullmatch(words[-1])
    moved, rest = (apart[2], [apart[1]]) if apart else (words[-1], [])
    return " ".join([*words[:asked], moved, *words[asked:-1], *rest])


_FINITE: Final = re.compile(r"\w{2}(?:t|en)$")
_SEPARABLE: Final = re.compile(r"(auf|ab|an|aus|ein|los|statt|zu|mit|vor)(\w{3,})")
"""A verb with a prefix that stands at the end of a direct question: "aufmacht", "macht ... auf"."""


class Framing:
    """The patterns of the words around a request in a language."""

    def __init__(self, grammar: LanguageGrammar) -> None:
        words = grammar.words
        self._grammar = grammar
        polite, hesitates = any_of(words.politeness), any_of(words.hesitation)
        opens_text = any_of(words.openers)
        courtesy, mends, fills = any_of(words.courtesy), any_of(words.mends), any_of(words.fillers)
        request = any_of([*words.questions, *words.orders])
        remark = (
            rf"(?:{any_of(words.remarks)})(?![\w'])"
            rf"(?:(?!(?<![\w'])(?:{request})(?![\w']))[^,.!?;:…\d]){{0,60}}+"
        )
        how = any_of(one for phrase in words.how_much if (one := phrase.split()[0]).isalpha())
        exclaimed = (
            rf"(?:\w+[\s,]+)?(?:(?:{any_of(words.determiners)})\s+(?:{any_of(words.indefinite)})"
            rf"\s[^.!?;:]+|(?:{how})\s+\w+)[.!]+\s"
        )
        self._before = pattern_of(
            rf"(?>(?>{exclaimed}|{remark}[,.!?;:…]|(?!(?:{mends})(?!\w))(?:{courtesy})[\s,.!;:…]"
            rf"|(?:{opens_text}|{hesitates}|{polite}|{fills})(?:{_GAP}|(?<=')))"
            rf"[\s,.!?;:…¡¿]*+)+(?=\S)"
        )
        self._after = pattern_of(
            rf"{_MARKS}\s+(?>(?>{remark}|{courtesy}|{polite})(?=[,.!?;:…\s]|$)[,.!?;:…\s]*+)+$"
        )
        subjects = any_of(map(re.escape, words.subjects))
        verbs = any_of(map(re.escape, [*words.forms_of_be, *words.helpers]))
        spoken = any_of([one for one in words.fillers if " " in one])
        ambiguous = grammar.questions | grammar.leads.keys() | grammar.here
        ambiguous |= {one for joints in words.joints[:1] for one in joints.split("|")}
        because = any_of([one for one in words.reasons if one not in ambiguous and "'" not in one])
        self._aside = pattern_of(
            rf"(?:[,;–-]+\s+(?:(?:{any_of(words.reasons)})(?!\s(?:{verbs})(?!\w))"
            rf"|(?:{any_of(words.conditions)})\s+(?:{subjects})"
            rf"|(?:{verbs})\s+(?:{subjects})(?=(?:\s+\w+){{1,2}}[.?!]*$)"
            rf"|(?!(?:{request}|{mends})(?![\w']))(?:{subjects})(?:'\w+)?)"
            rf"|\s+(?:{spoken}|{because})\s+(?:{any_of(words.speakers)}))(?![\w'])"
            rf"[^,;.?!:\d]+(?=[.?!]*$)"
        )
        joints = any_of(words.joints[:1])
        needs = (
            rf"(?:{polite}|{any_of(words.speakers)}|{any_of(words.telling)}|{any_of(words.links)})"
        )
        self._joined = pattern_of(rf"(?<![\w'])(?:{joints})(?:\s+(?:{needs}))*\s+$")
        self._trailing = pattern_of(rf"(?:\s+(?:{spoken}))+(?=[.?!]*$)")
        self._turns = pattern_of(rf"[.!…]+\s+(?:{opens_text}|{fills})[\s,]+$")
        self._hesitates = pattern_of(rf"(?:{hesitates})(?![\w'-])")
        speaks = rf"(?<![\w'])(?:{any_of(words.speakers)})(?!\w)"
        self._speaks = pattern_of(speaks)
        aside = any_of([*words.speakers, *words.fillers, *words.politeness, *words.links])
        self._tells = pattern_of(
            rf"(?<![\w'])(?:{any_of(words.telling)})(?:[\s,]+(?:{aside}))*[\s,:]*$"
        )
        self._kindly = pattern_of(
            rf"(?<![\w'])(?:{any_of(words.kindness)})(?:\s+(?:{any_of(words.links)}))*"
            rf"[\s,]+(?:{any_of(words.links)}|{any_of(words.speakers)})\s*$"
        )
        told = [*words.telling, *words.speakers, *words.links, *words.kindness, *words.conditions]
        self._closed = pattern_of(rf"(?:(?:{any_of(told)}|{polite}|{hesitates})(?!\w)[\s,]*)+")
        self._kind = pattern_of(rf"(?<![\w'])(?:{any_of(words.kindness)})(?!\w)")
        self._conditions = pattern_of(rf"(?:{any_of(words.conditions)})(?!\w)")
        self._explains = pattern_of(
            rf"(?:{because}|(?:{any_of(words.conditions)})(?!\s(?:{verbs})\b))\s"
        )
        asking = map(re.escape, [*words.questions, *words.forms_of_be, *words.helpers])
        opens = any_of([*words.fillers, *words.politeness, *words.joints, *words.orders, *asking])
        self._may_open = pattern_of(rf"[{re.escape(TRIMMED)}]*(?:{opens})")

    def request_in(self, text: str) -> str:
        """Return the request in a text; the text where nothing in it is surely framing."""
        grammar, plain = self._grammar, plain_of(text)
        opened = grammar.joint.match(plain)
        start = opened.end() if opened else 0
        before = self._before.match(plain)
        chat = before.end() if before else 0
        mends = grammar.mending.match(plain, start)
        if mends and max(start, chat) < mends.end() < len(text):
            rest = self.request_in(text[mends.end() :]).lstrip("¿¡")
            first = plain_of(rest).partition(" ")[0]
            # A question mends nothing: the words before it are hesitation.
            return rest if first in grammar.questions else f"{text[: mends.end()]}{rest}"
        if opened and opened["joint"] and self._is_whole(text):
            return self._without_aside(text)  # it goes on from the turn before
        if self._after.fullmatch(f", {plain}"):
            return text  # all of it is chat
        said = self._without_aside(text[chat:])
        while (request := self._after_chat(said)) != said:
            said = request  # "I hope you're well. would you be so kind as to tell me ..."
        after = self._after.search(plain_of(said))
        asks = after is not None and (after[0][0] == "?" or text.rstrip().endswith("?"))
        if after:
            said = said[: after.start()] + ("?" if asks else "")
        if "," not in said and len(said.split()) > LEAST_INDIRECT and self._begins(said):
            said = self._trailing.sub(lambda _: "", said)
        if said == text:
            return text
        said = self._without_joint(said.lstrip("¿¡"))
        if asks or self._begins(said) or _ENDED.search(text[:chat]):
            return said
        joined = self._grammar.joint.match(plain_of(said))
        return said if joined and joined["joint"] else text

    def explains(self, clause: str) -> bool:
        """Return whether a clause says why, or on which condition, something is asked."""
        return self._explains.match(plain_of(clause.strip(" ,;"))) is not None

    def _is_whole(self, text: str) -> bool:
        """Return whether a text has no clause that is chat before a request."""
        return self._begins(text) or _BOUNDARY.search(text) is None

    def _begins(self, text: str) -> bool:
        """Return whether a text begins as a request does, or names its subject."""
        first = plain_of(text).lstrip("¿¡").partition(" ")[0]
        names = first in self._grammar.definite or first[:1].isdigit()
        return names or self._grammar.opens_request(text)

    def _after_chat(self, text: str) -> str:
        """Return the rest of a text after the clauses and words before its request."""
        plain, begins = plain_of(text), self._begins(text)
        for start, clause in _starts(plain):
            if start > MOST_LEAD:
                break
            if self._may_open.match(plain, start) is None:
                continue
            lead, rest = plain[:start], text[start:]
            closed = self._closed.fullmatch(lead) is not None
            if self._is_whole_order(lead, rest):
                return rest
            if self._is_content(text[:start]):
                begins = True
            if begins and not closed:
                continue
            if self._hesitates.match(plain, start) or not self._grammar.opens_request(rest):
                continue
            if closed and clause:
                return rest
            if clause and (self._refers_back(rest) or self._names_thing(text[:start], rest)):
                break
            if self._is_chat(lead) if clause else self._leads_in(lead, rest, closed=closed):
                return rest
        return text

    def _without_joint(self, text: str) -> str:
        """Remove the words that join a request to the chat before it."""
        plain = plain_of(text)
        opened = self._grammar.joint.match(plain)
        if opened is None or plain.partition(" ")[0] in self._grammar.questions:
            return text
        rest = text[opened.end() :]
        return rest if self._grammar.opens_request(rest) else text

    def _without_aside(self, text: str) -> str:
        """Return a text without its last clause where that tells about those who speak."""
        found = self._aside.search(plain_of(text))
        if found is None or self._speaks.search(found[0]) is None:
            return text
        before, joined = text[: found.start()], self._grammar.joint.match(plain_of(text))
        named = not self._grammar.words.nouns_capital and _INNER_NAME.search(text[found.start() :])
        goes_on = joined is not None and joined["joint"] is not None
        whole = goes_on or self._begins(before) or self._grammar.mending.match(plain_of(before))
        return text if named or not whole else before + text[found.end() :]

    def _is_whole_order(self, lead: str, rest: str) -> bool:
        """Return whether words in which the speakers tell why come before an order that names all
        it needs: "we leave at six, so wake me at 5".
        """
        joined = self._joined.search(lead)
        if joined is None or self._begins(lead) or self._speaks.search(lead) is None:
            return False
        and_alone = joined[0].strip() == self._grammar.words.conjunction
        return not and_alone and self._orders(rest) and _DIGIT.search(rest) is not None

    def _is_content(self, lead: str) -> bool:
        """Return whether words before a request may name its subject."""
        named = not self._grammar.words.nouns_capital and _INNER_NAME.search(lead)
        return bool(_DIGIT.search(lead) or named)

    def _is_chat(self, lead: str) -> bool:
        """Return whether clauses before a request are about the speakers."""
        first = lead.split(maxsplit=1)[0].strip(TRIMMED)
        if first in self._grammar.leads or self._conditions.match(lead):
            return False
        if self._turns.search(lead) is not None:
            return True  # "long day. anyway, ..."
        return self._speaks.search(lead) is not None or lead.rstrip().endswith("!")

    def _orders(self, text: str) -> bool:
        return self._grammar.commands.match(plain_of(text)) is not None

    def _refers_back(self, rest: str) -> bool:
        """Return whether an order names its thing by a pronoun, so by the words before it."""
        words = {one.strip(TRIMMED) for one in plain_of(rest).split()}
        return self._orders(rest) and not words.isdisjoint(self._grammar.things)

    def _names_thing(self, lead: str, rest: str) -> bool:
        """Return whether a question is about the thing that the words before it are led to: "I'd
        rather go to the market, when is it".
        """
        grammar, plain = self._grammar, plain_of(rest)
        if grammar.dummies.search(plain):
            return False
        pointed = grammar.thing.search(plain) or grammar.pointer.search(plain)
        parts = grammar.slots(lead) if pointed else []
        return any(one.lead == TO and one.kind in ("noun", "name") for one in parts)

    def _leads_in(self, lead: str, rest: str, *, closed: bool) -> bool:
        """Return whether words lead in the question or the order that follows them at once.

        `closed`: all of them are such as frame a request.
        """
        if lead.split()[-1] in self._grammar.things:
            return False  # its subject
        if self._orders(rest):
            kind = self._kind if closed and " " in rest.strip() else self._kindly  # "my wish list"
            return kind.search(lead) is not None
        return self._tells.search(lead) is not None and self._speaks.search(lead) is not None


def _starts(plain: str) -> Iterable[tuple[int, bool]]:
    """Return where a request may start, and whether a clause ends there."""
    clauses = {one.end() for one in _BOUNDARY.finditer(plain)}
    words = {one.end() for one in _SPACE.finditer(plain)}
    return sorted((at, at in clauses) for at in clauses | words)


@cache
def framing_of(code: str) -> Framing:
    """Return the framing of a language that has a grammar."""
    grammar = grammar_of(code)
    assert grammar is not None
    return Framing(grammar)


def request_in(text: str, grammar: LanguageGrammar) -> str:
    """Return the request in a text without the chat before and after it.

    The same text if the rest does not begin as a request does.
    """
    said = text.lstrip("¿¡")  # "¿puedes decirme qué hora es?"
    request = framing_of(grammar.code).request_in(said)
    return text if request == said else request
