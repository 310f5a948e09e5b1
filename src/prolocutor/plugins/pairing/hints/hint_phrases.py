"""Verdicts of words on the answer before: phrases of four languages, and repeated questions."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from typing import Final

from prolocutor.plugins.pairing.text import STOP_WORDS, content_stems
from prolocutor.reading.words import words

LONGEST: Final = 200
"""Characters of an utterance that may be a rejection or thanks."""

_FILLER: Final = (
    r"(?:(?:ok(?:ay)?|oh|ah|well|hm+|um+|uh|so|but|thanks|thank you|sorry|hey|no+|nope|nah|i think"
    r"|actually|nein|nee|ne|aber|also|danke|äh|tut mir leid|non|mais|merci|désolée?|euh|pero"
    r"|gracias|perdón|lo siento|bueno|wait|stop)[\s,.;:!-]+)*"
)
_REJECTIONS: Final = (
    # English
    (
        r"(?:that|this|it|which|the answer|your answer|that answer)(?:'?s| is| was| seems| sounds)?"
        r" (?:just |simply |completely |totally |all |so |still |really |definitely )*"
        r"(?:(?:the |a )?wrong|incorrect|false|nonsense|rubbish|useless|no help|no answer"
        r"|an error|a mistake"
        r"|not (?:even )?(?:right|correct|true|it|helpful|useful|an answer|the (?:right |correct )?"
        r"answer|(?:at all )?what i(?:'m| am| was| had)? ?(?:ask|mean|want|said|say|look|need)\w*"
        r"|my question|the question|related))\b"
    ),
    (
        r"(?:that|this|it|the answer|your answer) ?(?:isn't|wasn't|isnt|wasnt|ain't|can't be)"
        r" (?:right|correct|true|it|helpful|an answer|my question|the (?:right |correct )?answer"
        r"|what i)\b"
    ),
    r"not (?:at all )?(?:what i (?:asked|meant|wanted|said|was)|right|correct|true|helpful)\b",
    (
        r"(?:that|this|it|you) ?(?:doesn'?t|didn'?t|does not|did not|don'?t|do not|haven'?t"
        r"|have not) (?:really |even )?(?:answer(?:ed)?|help(?:ed)?(?: me)?|understand|understood"
        r"|get|listen|make sense)(?: (?:my|the) question| me| it| that| at all)?\s*(?:[.!,;]|$)"
    ),
    r"you(?:'re| are| were)? (?:wrong|mistaken|misunderstood|got (?:it|that|me) wrong)\b",
    (
        r"i (?:didn't|did not|wasn't|was not) (?:ask|mean|say|want|asking)(?:ing)? (?:you )?(?:that"
        r"|this|about that|for that|it)\b"
    ),
    r"(?<=no )i (?:asked|meant|was asking|was looking)\b|(?<=no, )i (?:asked|meant|was asking)\b",
    (
        r"(?:wrong|incorrect|false|nonsense|rubbish|(?:bad|wrong) (?:answer|agent|one)|try again"
        r"|not (?:that|this|it))\s*[.!]*$"
    ),
    # German
    (
        r"(?:das|die antwort|deine antwort|es|dies) (?:ist|war|stimmt|kann) (?:doch |ja |so "
        r"|leider |völlig |ganz |einfach |total )*(?:falsch|verkehrt|quatsch|unsinn"
        r"|nicht(?: (?:richtig|korrekt|wahr|das|was ich|meine frage|die (?:richtige )?antwort"
        r"|hilfreich|so|sein))?"
        r"|keine antwort)\b"
    ),
    r"das (?:habe?|hatte) ich (?:doch |so |gar )?nicht (?:gefragt|gemeint|wissen|gesagt|gesucht)",
    r"das (?:meinte?|wollte|fragte) ich (?:doch |so |gar )?nicht",
    r"(?:da)?nach (?:etwas anderem )?(?:habe?|hatte) ich (?:gar |doch )?(?:nicht )?gefragt",
    r"du (?:hast|verstehst) mich (?:falsch|nicht)|sie (?:haben|verstehen) mich (?:falsch|nicht)",
    r"das (?:hilft|half) (?:mir )?(?:leider |gar |so )?nicht",
    r"(?:falsch|quatsch|unsinn|stimmt nicht|(?:falsche|schlechte) antwort|nicht richtig)\s*[.!]*$",
    r"(?<=nein )ich (?:meinte|wollte|habe)|(?<=nein, )ich (?:meinte|wollte|habe)",
    # French
    (
        r"(?:c'est|c’est|ça c'est|la réponse est|ta réponse est|votre réponse est) (?:complètement "
        r"|tout simplement |totalement )*(?:faux|fausse|incorrecte?|n'importe quoi|une erreur"
        r"|pas (?:ça|cela|correct|vrai|juste|bon|la (?:bonne )?réponse|ma question|ce que))"
    ),
    (
        r"(?:ce|ça|cela) n['’]?(?:est|était|e) (?:toujours )?pas (?:ça|cela|correct|vrai|juste|bon"
        r"|utile|la (?:bonne )?réponse|ma question|ce que|ce qu)"
    ),
    r"(?:ça|cela) ne (?:répond pas|m['’]aide pas|va pas|marche pas)",
    r"je n['’]ai pas (?:demandé|dit|voulu) (?:ça|cela)|ce n['’]est pas ce que",
    r"(?:tu|vous) (?:n['’])?(?:as|avez|me) (?:pas|mal) compris|(?:tu|vous) (?:te|vous) tromp",
    r"(?:faux|incorrect|(?:mauvaise|fausse) réponse|pas ça|n'importe quoi)\s*[.!]*$",
    # Spanish
    (
        r"(?:eso|esto|la respuesta|tu respuesta|su respuesta) (?:es|está|era|estaba) (?:totalmente "
        r"|completamente )*(?:mal|falso|falsa|incorrecto|incorrecta|equivocad[oa]|un error)\b"
    ),
    (
        r"(?:eso |esto |la respuesta )?no (?:es|era) (?:correct[oa]|verdad|ciert[oa]|así|eso|lo que"
        r"|mi pregunta|la respuesta|útil)\b"
    ),
    (
        r"(?:no )?(?:he preguntado|pregunté|quería|quise decir|dije) eso|no te (?:he preguntado"
        r"|pregunté|pedí) eso"
    ),
    r"(?:eso )?no (?:me (?:ayuda|sirve|entiendes|entendiste|has entendido)|responde)",
    r"(?:te equivocas|te has equivocado|se equivoca|se ha equivocado)\b",
    r"(?:incorrecto|falso|mal|(?:mala )?respuesta (?:incorrecta|equivocada)|eso no)\s*[.!]*$",
)
_REFUSED: Final = re.compile(r"(?:no+|nope|nah|nein|nee|non)[\s.!]*", re.IGNORECASE)
_REJECTED: Final = re.compile(_FILLER + "(?:" + "|".join(_REJECTIONS) + ")", re.IGNORECASE)

_THANKS: Final = (
    r"(?:good|nice|great) (?:job|answer|one)|thanks?(?: you)?|thx|ty|cheers|perfect|great|awesome"
    r"|excellent|wonderful|brilliant|amazing|exactly|correct|nice|cool|lovely|super|well done"
    r"|(?:very |so |really )?(?:good|helpful|useful)|(?:that|this|it)(?:'s| is| was)? (?:very "
    r"|so |really |exactly )*(?:right|correct|it|perfect|great|helpful|good|what i (?:needed"
    r"|wanted|meant|was looking for)|helps|helped)|much appreciated|you(?:'re| are) (?:great"
    r"|the best|right)|very much|so much|a lot|a bunch|again|for (?:that|this|the (?:help|answer)"
    r"|your help)|got it|ok(?:ay)?|oh|ah|wow|and|yes|yeah|sure"
    r"|danke(?: (?:schön|sehr|dir|ihnen))?|vielen|herzlichen|dank|besten|super|perfekt|toll|genau"
    r"|klasse|prima|stimmt|richtig|ja|das (?:ist|war|hilft) (?:mir |sehr |genau |wirklich )*"
    r"(?:richtig|super|perfekt|toll|hilfreich|gut|sehr|weiter)?|sehr gut|gut|alles klar"
    r"|merci(?: (?:beaucoup|bien))?|parfait|génial|exact(?:ement)?|oui|très bien|bien|c['’]est"
    r" (?:ça|parfait|exact|bien ça|génial|très (?:bien|utile))|bravo"
    r"|(?:muchas |mil )?gracias|perfecto|genial|estupendo|exacto|eso es|muy (?:bien|útil)|sí|vale"
)
_THANKED: Final = re.compile(rf"(?>(?:{_THANKS})\b[\s,.;:!]*)++", re.IGNORECASE)
_MEANT: Final = re.compile(
    r"\b(?:thank|thx|ty|cheers|perfect|great|awesome|excellent|wonderful|brilliant|amazing|exact"
    r"|correct|right|helpful|helps|helped|useful|appreciated|good (?:job|answer)|well done|what i"
    r"|dank|perfekt|toll|klasse|prima|genau|stimmt|richtig|hilfreich|merci|parfait|génial|bravo"
    r"|gracias|perfecto|genial|estupendo|eso es|útil|super)",
    re.IGNORECASE,
)


def rejects(text: str, *, asked: bool = False) -> bool:
    """Return whether a text says that the answer before was wrong.

    A mere "no" does, unless the answer was a question (`asked`).
    """
    plain = _plain(text)
    if not plain or plain.endswith("?"):
        return False
    if _REFUSED.fullmatch(plain):
        return not asked
    return _REJECTED.match(plain) is not None


def thanks(text: str) -> bool:
    """Return whether a text only thanks for the answer before or praises it."""
    plain = _plain(text)
    if not plain or plain.endswith("?"):
        return False
    return _THANKED.fullmatch(plain) is not None and _MEANT.search(plain) is not None


def _plain(text: str) -> str:
    return " ".join(text.replace("’", "'").split()) if len(text) <= LONGEST else ""


ALIKE: Final = 0.6
"""The likeness from which on a question counts as the same.

Measured on 64 pairs of tests/unit/pairing/hints and on 20,000 random pairs of BBAI's questions for
the same agent: 0.6 finds 18 of 30 repetitions, and takes 2 of 34 other questions and 1.4 % of the
random pairs for one; 0.5 finds 23, and takes 3 of 34 and 4.3 % of the pairs.
"""

LEAST: Final = 2
"""Stems that the shorter question must have: "again" or "a joke" can be asked twice for itself."""

_SPELT_ALIKE: Final = 0.75
_FOR_MORE: Final = frozenset(
    "another more else next other otra otro más autre encore weitere weiter noch".split()
)


def asks_again(before: str, now: str, alike: float = ALIKE) -> bool:
    """Return whether `now` asks the same as `before`, even in other words."""
    one, other = content_stems(before), content_stems(now)
    if min(len(set(one)), len(set(other))) < LEAST or not _FOR_MORE.isdisjoint(words(now)):
        return False
    if _turns(before) != _turns(now):
        return False
    if one == other:
        return words(before) != words(now) or len(set(one)) > LEAST
    if _numbers(one) != _numbers(other) or _replaces(one, other):
        return False
    return likeness(one, other) >= alike


def likeness(one: Sequence[str], other: Sequence[str]) -> float:
    """Return the share of stems that two questions have in common, 0 to 1 (Dice).

    Stems that are spelt alike count in part.
    """
    first, second = list(dict.fromkeys(one)), list(dict.fromkeys(other))
    if not first or not second:
        return 0.0
    common = _found(first, second) + _found(second, first)
    return common / (len(first) + len(second))


def _found(stems: Sequence[str], among: Sequence[str]) -> float:
    return sum(1.0 if stem in among else _spelt_alike(stem, among) for stem in stems)


def _spelt_alike(stem: str, among: Sequence[str]) -> float:
    if len(stem) < 4 or not stem.isalpha():
        return 0.0
    best = max((_dice(stem, other) for other in among if len(other) > 2), default=0.0)
    return best if best >= _SPELT_ALIKE else 0.0


def _dice(one: str, other: str) -> float:
    first, second = (
        {f" {word} "[n : n + 2] for n in range(len(word) + 1)} for word in (one, other)
    )
    return 2 * len(first & second) / (len(first) + len(second))


def _turns(text: str) -> set[str]:
    """Return the words that tell "turn it on" from "turn it off", "from here" from "to here"."""
    found = words(text)
    switched = {one for one in found if one in ("off", "out", "down")}
    if "from" not in found:
        return switched
    places = itertools.pairwise(found)
    return switched | {f"{one} {two}" for one, two in places if one in ("from", "to")}


def _numbers(stems: Sequence[str]) -> list[str]:
    return sorted(stem for stem in stems if stem[0].isdigit())


def _replaces(one: Sequence[str], other: Sequence[str]) -> bool:
    """Return whether words were replaced at a single spot, and all other words are the same."""
    start = 0
    while start < min(len(one), len(other)) and one[start] == other[start]:
        start += 1
    end = 0
    while end < min(len(one), len(other)) - start and one[-1 - end] == other[-1 - end]:
        end += 1
    left, came = len(one) - start - end, len(other) - start - end
    if not (left and came) or max(left, came) > 2 or not start + end:
        return False
    gone, new = one[start : len(one) - end], other[start : len(other) - end]
    return not any(_spelt_alike(stem, gone) for stem in new)


def says_something(text: str) -> bool:
    """Return whether a text has a word that is no stop word, so that it can be learned."""
    return any(word not in STOP_WORDS for word in words(text))
