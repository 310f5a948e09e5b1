"""Reads yes and no, in many wordings: an answer consists of phrases of one side and of courtesy."""

from __future__ import annotations

import re
from typing import Any, ClassVar, Final

from prolocutor.asks.answers import AnswerContext, AskOptions, NotUnderstood, Outcome, Understood
from prolocutor.dialog.plain import JsonObject
from prolocutor.reading.plain_text import plain

_YES: Final = """
    yes, yeah, yea, yah, yep, yup, yus, ya, y, aye, yessir, yass, uh huh, uhhuh, mhm, mm hm, mmhm,
    mm hmm, mmhmm, true, correct, affirmative, positive, exactly, precisely, absolutely,
    definitely, certainly, totally, naturally, obviously, surely, sure, sure thing, for sure, fo
    sho, of course, indeed, by all means, why not, you bet, you got it, you know it, please do, go
    ahead, go for it, go on then, do it, do that, do so, lets do it, lets do that, lets go, lets,
    make it so, sounds good, sounds great, sounds fine, sounds perfect, sounds right, that sounds
    good, that sounds great, works for me, that works, agreed, i agree, thats right, thats
    correct, thats true, thats fine, thats ok, thats okay, thats good, thats great, thats perfect,
    thats it, thats lovely, that is right, that is correct, that is true, that is fine, that would
    be great, that would be good, that would be nice, that would be lovely, that would be perfect,
    thatd be great, i do, i am, i will, i would, i can, i have, i did, i was, i think so, i guess
    so, i believe so, i suppose so, i hope so, id love to, id love that, id like to, id like that,
    id like it, id love it, i would love to, i would love that, i would like to, i would like
    that, i want it, i want that, i want to, it is, it does, it was, it will, they are, they do,
    we do, we are, we will, he is, he does, she is, she does, there is, there are, no problem, no
    doubt, no problem at all, with pleasure, gladly, happily, without a doubt, without doubt,
    right on, roger that, ten four, 10 4, confirm, confirmed, i confirm, accept, accepted, i
    accept, approve, approved, very much so, id be happy to, happy to, more than happy to, hell
    yes, hell yeah, heck yes, heck yeah, fine by me, fine with me, ok by me, ok with me, okay with
    me, okay by me, sounds like a plan, ja, jawohl, jawoll, jep, joa, na klar, klar, sicher,
    natürlich, genau, stimmt, richtig, gerne, gern, auf jeden fall, unbedingt, einverstanden,
    selbstverständlich, ja gerne, zustimmen, ich stimme zu, genehmigen, genehmigt, approuver,
    approuvé, japprouve, aprobar, aprobado, apruebo, oui, ouais, mais oui, bien sûr, certainement,
    tout à fait, absolument, daccord, exactement, avec plaisir, volontiers, évidemment, sí, si,
    claro, claro que sí, por supuesto, desde luego, de acuerdo, vale, exacto, correcto, cierto,
    con gusto, perfecto, así es, good idea, great idea, right away, may as well, might as well, if
    you like, if you want, 👍, ✅, ✔
"""

_WEAK: Final = """
    ok, okay, okey, okie, okey dokey, okie dokie, k, kk, fine, alright, all right, alrighty, right,
    good, great, perfect, cool, very well, nice, excellent, awesome, 👌
"""

_NO: Final = """
    no, nope, nop, nah, naw, nay, n, uh uh, nuh uh, never, not ever, negative, false, wrong,
    incorrect, not really, not at all, not quite, not now, not today, not this time, not right
    now, not for me, not me, not in the least, not a chance, no chance, no way, no thanks, no
    thank you, no need, nothing of the sort, hell no, heck no, god no, absolutely not, certainly
    not, definitely not, of course not, obviously not, probably not, surely not, preferably not,
    better not, rather not, id rather not, i would rather not, i do not think so, i dont think so,
    i think not, i guess not, i hope not, im afraid not, i am afraid not, i do not, i dont, i dont
    want to, i dont want that, i dont want it, i do not want to, i do not want that, i do not want
    it, i did not, i didnt, i am not, im not, i will not, i wont, i would not, i wouldnt, i cant,
    i cannot, it is not, it isnt, its not, thats not right, thats not correct, thats not true,
    thats not it, thats wrong, thats false, thats incorrect, that is not right, that is not
    correct, that is not true, that is wrong, that isnt right, that isnt correct, that isnt true,
    they are not, they arent, we dont, we wont, he isnt, she isnt, there isnt, there arent, there
    is not, dont, do not, please dont, dont do it, dont do that, do not do it, do not do that, by
    no means, under no circumstances, on no account, i refuse, i disagree, disagree, denied, deny,
    refuse, refused, reject, rejected, decline, declined, i decline, not likely, unlikely, no can
    do, yeah no, yeah nah, no thats fine, no thats ok, no thats okay, no thats all right, no thats
    alright, no thats good, 👎, ❌, nein, nee, nö, ne, auf keinen fall, niemals, lieber nicht, nein
    danke, bloß nicht, gar nicht, nicht, falsch, stimmt nicht, heute nicht, jetzt nicht, non, pas
    du tout, jamais, non merci, surtout pas, pas maintenant, pas question, absolument pas, bien
    sûr que non, ablehnen, abgelehnt, ich lehne ab, refuser, je refuse, refusé, rechazar,
    rechazado, rechazo, faux, de ninguna manera, nunca, jamás, claro que no, no gracias, ahora no,
    para nada, por supuesto que no, en absoluto
"""

_COURTESY: Final = """
    please, thanks, thank you, thank you very much, thanks a lot, very much, then, well, um, uh,
    oh, er, hm, ah, just, really, sir, madam, maam, man, dude, mate, my friend, sorry, haha, lol,
    bitte, danke, vielen dank, doch, sil te plaît, sil vous plaît, merci, merci beaucoup, por favor,
    gracias, muchas gracias,
    now, so, but thanks, but thank you, i said, this time, pretty please, anyway, but
"""

_MILD: Final = """
    im good, im fine, im ok, im okay, im all right, its fine, its ok, its okay, its all right,
    were good, were fine
"""


def _phrases(side: str, table: str) -> dict[tuple[str, ...], str]:
    return {tuple(phrase.split()): side for phrase in table.split(",")}


_SIDES: Final = (
    _phrases("", _COURTESY)
    | _phrases("mild", _MILD)
    | _phrases("weak", _WEAK)
    | _phrases("yes", _YES)
    | _phrases("no", _NO)
)
_LONGEST: Final = max(map(len, _SIDES))
_BREAKS: Final = re.compile(r"[\s,.!;:\"()*_-]+")
_TONES: Final = re.compile("[\U0001f3fb-\U0001f3ff\ufe0f]")
_DRAWN_OUT: Final = re.compile(r"([a-z])\1{2,}")


def said(text: str, *, firmly: bool = False) -> bool | None:
    """Return whether a text as a whole means yes (True), no (False) or neither (None).

    `firmly` ignores words that mean yes only as an answer ("fine", "nice", "good").
    """
    text = plain(text)
    if text.endswith("?") and not text.startswith("why not"):
        return None
    text = _TONES.sub("", text.rstrip("?").replace("'", ""))
    text = _DRAWN_OUT.sub(r"\1", text)
    sides = _sides(tuple(word for word in _BREAKS.split(text) if word))
    if sides is None or {"yes", "no"} <= sides:
        return None
    if "no" in sides:
        return False
    accepted = {"yes"} if firmly else {"yes", "weak"}
    return True if sides & accepted and "mild" not in sides else None


def read(text: str, context: AnswerContext) -> Outcome:
    """Read yes or no: a bool."""
    value = said(text)
    return NotUnderstood(YesNo.hint) if value is None else Understood(value)


def take(type_name: str, value: Any, context: AnswerContext) -> Outcome:
    """Take a parsed bool."""
    if type_name == "yesno" and isinstance(value, bool):
        return Understood(value)
    return NotUnderstood(YesNo.hint)


def _sides(words: tuple[str, ...]) -> set[str] | None:
    """Return the sides of the phrases in the words; None if a word is in no phrase."""
    sides: set[str] = set()
    while words:
        lengths = range(min(_LONGEST, len(words)), 0, -1)
        length = next((n for n in lengths if words[:n] in _SIDES), 0)
        if not length:
            return None
        sides.add(_SIDES[words[:length]])
        words = words[length:]
    return sides


class YesNo(AskOptions, frozen=True):
    """Yes or no, as a bool."""

    hint: ClassVar[str] = "Just answer yes or no."
    schema: ClassVar[JsonObject] = {"type": "string", "enum": ["yes", "no"]}
    read, take = staticmethod(read), staticmethod(take)
