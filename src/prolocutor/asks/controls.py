"""Reads control commands, which steer a round instead of answering: cancel, stop, help, more."""

from __future__ import annotations

import re
from itertools import product
from typing import Final, Literal, TypeAlias

from prolocutor.asks import yesno
from prolocutor.reading.plain_text import bare, plain, without_accents

Control: TypeAlias = Literal[
    "yes", "no", "nevermind", "stop", "help", "more", "back", "again", "unsure", "wait"
]

_TABLE: Final[dict[Control, str]] = {
    "nevermind": """never mind, nevermind, nvm, cancel, cancel it, cancel that, cancel this,
        forget it, forget that, forget about it, forget about that, skip it, skip that, skip this,
        drop it, leave it, let it go, abort, abort it, scratch that, undo that, do not bother,
        don't bother, no matter, it doesn't matter, doesn't matter, changed my mind, not now,
        i changed my mind, i've changed my mind, i have changed my mind, on second thought no,
        it's nothing, i want to cancel, i'd like to cancel, let's forget it, let's leave it,
        cancel please, please cancel, none of them, none of these, none of those,
        none of the above, neither, neither of them,
        leave that, skip, no longer needed, i don't want to anymore,
        abbrechen, abbruch, vergiss es, lassen wir das, ist egal, nicht nötig, vergessen wir das,
        doch lieber nicht, hat sich erledigt, brich ab, brich das ab,
        vergiss das, egal, lass es, lass das, lass mal, lass gut sein,
        schon gut, nicht so wichtig, doch nicht, keins davon, keine davon, bitte abbrechen,
        annuler, annule, annulez, laisse tomber, laisse, oublie, oublie ça, tant pis, peu importe,
        laisse béton, non finalement, finalement non, oublie tout, oublie tout ça, c'est bon laisse,
        lass, dann eben nicht, dann halt nicht, ist mir egal, mir egal, let's not, rather not,
        on second thoughts no, mejor no, al final no, ya no quiero,
        aucun, aucune, aucun des deux, oublie ça, oubliez, laissez tomber, c'est pas grave,
        ce n'est pas grave, pas grave, non rien, rien, ça ne fait rien, oublions, on oublie,
        déjalo estar, olvida eso, olvídate, nada, no es nada, ya no, olvidalo, dejalo,
        cancelar, cancela, cancélalo, déjalo, olvídalo, no importa, da igual, ninguno, ninguna""",
    "stop": """stop, stop it, stop that, stop talking, shut up, be quiet, quiet, silence, hush,
        enough, that's enough, shush, please stop, stop please,
        stopp, halt, hör auf, genug, ruhe, arrête, arrêtez, ça suffit, silence, para, basta,
        alto, silencio""",
    "help": """help, help me, i need help, help please, please help, can you help me,
        can you help me?, what can i say, what can i say?, what should i say, what should i say?,
        what are my options, what are my options?, what are the options, what are the options?,
        what are the choices?, what are my choices?,
        hilfe, hilf mir, was kann ich sagen, aide, aide-moi, à l'aide, ayuda, ayúdame""",
    "more": """more, show more, show me more, more please, next, next page, next ones,
        the next ones, more results, more choices, more options, see more, load more, continue,
        go on, keep going, any more, any more?, anything else, anything else?, what else,
        mehr, weitere, weiter, plus, encore, la suite, suivant, más, siguiente, sigue,
        what else?, and then, and then?, show me the rest, the rest""",
    "again": """what, sorry, sorry what, pardon, pardon me, excuse me, come again, say again,
        say that again, say it again, repeat, repeat that, repeat please, repeat the question,
        what did you say, what did you ask, what was the question, what was that, huh, eh,
        wait what, i didn't get that, i did not get that, i don't understand, i do not understand,
        was, wie bitte, bitte, hä, wiederhole, wiederhol das, wiederholen, was hast du gesagt,
        was hast du gefragt, was war die frage, ich verstehe nicht, das verstehe ich nicht,
        comment, quoi, hein, répète, répétez, tu peux répéter, je ne comprends pas,
        je n'ai pas compris, cómo, qué, perdón, repite, repítelo, no entiendo, qué dijiste,
        qué has dicho""",
    "unsure": """i don't know, i do not know, don't know, dunno, idk, no idea, not sure,
        i'm not sure, i am not sure, not sure yet, i don't know yet, no clue, whatever,
        weiß nicht, weiß ich nicht, ich weiß nicht, ich weiß es nicht, keine ahnung, noch nicht,
        bin nicht sicher, ich bin nicht sicher, mal sehen, je ne sais pas, je sais pas, sais pas,
        aucune idée, pas sûr, pas sûre, on verra, no sé, no lo sé, ni idea, no estoy seguro,
        no estoy segura, ya veremos""",
    "wait": """wait, hold on, hang on, one moment, a moment, just a moment, one second, one sec,
        a second, give me a second, give me a minute, let me think, let me see, let me check,
        hmm, warte, warte kurz, moment, einen moment, moment mal, lass mich überlegen, attends,
        un moment, une seconde, un instant, laisse-moi réfléchir, espera, un segundo, momento,
        déjame pensar, déjame ver""",
    "back": """back, go back, previous, previous page, the previous ones, show previous,
        page back, back please, go back please, zurück, retour, précédent, atrás, volver""",
}
_CONTROLS: Final[dict[str, Control]] = {
    " ".join(phrase.split()): name for name, table in _TABLE.items() for phrase in table.split(",")
}
_UNACCENTED: Final = {
    without_accents(phrase): name for phrase, name in _CONTROLS.items() if len(phrase) > 3
}


_LEAD: Final = re.compile(
    r"(?:nah|no+|nope|oh|ok(?:ay)?|well|um+|uh+|ach|ähm?|äh|nein|nee|nö|also|na|non|nan|euh|bon|ben"
    r"|bah|bof|ah|eh|on second thoughts?|pues|bueno|ay|actually|sorry|wait|just|please|bitte|then"
    r"|hey|hm+|moment|oui|ya|mejor"
    r"|alors|finalement|lieber|komm|yeah|and|und|et|y|so|oops)\b[\s,.!…-]*"
)
_TAIL: Final = re.compile(
    r"[\s,.!]+(?:please|thanks|thank you|then|now|bitte|danke|einfach|wieder|s'il te plaît|merci"
    r"|por favor|gracias|mejor|then|ok(?:ay)?|all of it|it|actually|anyway|doch|lieber|tout|va|ya)$"
)
_TAKES_BACK: Final = (
    r"(?:(?:no+|nah|nein|nee|non|oh|sorry|ach|perdón|pardon)[\s,.]+)?"
    r"(?:no,? wait|wait|hang on|hold on|i meant?|actually|make (?:it|that)|scratch that"
    r"|warte|halt|ich meinte|doch lieber|moment|attends|attendez|je voulais dire|plutôt"
    r"|espera|quise decir|quería decir|mejor)[\s,.:]+(?=\S+ \S|\S{3,}|\d)"
)
_CORRECTS: Final = re.compile(_TAKES_BACK)
_CORRECTS_LATER: Final = re.compile(rf"(?<=[\s,.;…!-]){_TAKES_BACK}")


def correction(text: str) -> str | None:
    """Return the words after the last "no wait" of a text; None where it takes nothing back.

    >>> correction("no wait, call dad"), correction("Monday, no wait, Friday"), correction("no")
    ('call dad', 'friday', None)
    """
    said = plain(text)[:_LONGEST_CORRECTION]
    found = [_CORRECTS.match(said), *_CORRECTS_LATER.finditer(said)]
    last = found[-1]
    return None if last is None else said[last.end() :]


_WRAPPED: Final = re.compile(
    r"(?:(?:um+|uh+|hm+|well|ok(?:ay)?|so|oh|äh+m?|also|ja|euh|bon|alors|pues|bueno"
    r"|not sure(?: yet)?|i don'?t know|weiß nicht|keine ahnung|je ne sais pas|no sé)[\s,.…]+)*"
    r"(?:(?:how|what) about|(?:can|could|may) (?:i|we|it) (?:say|do|be|have|take)|maybe|perhaps"
    r"|let'?s (?:say|do|take)|i(?:'d| would)? (?:say|like|guess|think|prefer|want)|make it|is|would"
    r"|vielleicht|sagen wir(?: mal)?|wie w[äa]re?(?:'s| es)? mit|ich (?:sage|nehme|denke|möchte)"
    r"|geht|disons|peut-être|et si on disait|je (?:dirais|pense|prends|voudrais)|digamos|quizás?"
    r"|tal vez|qué tal|puede ser|prefiero|creo que)?\s*(?P<said>\S.*?)"
    r"(?:[\s,]+(?:maybe|perhaps|i (?:guess|think)|(?:is|would be|works?)(?: (?:fine|ok(?:ay)?|great"
    r"|good|possible|for me))?|(?:would|will) do|please|geht|passt|wäre gut|vielleicht|peut-être"
    r"|ça (?:va|marche)|quizás?|está bien|me va bien))?[\s.!?¿]*"
)


def wrapped_answer(text: str) -> str:
    """Return a text without the words that offer an answer: "how about Friday?", "maybe ten".

    >>> wrapped_answer("not sure yet, maybe Friday?"), wrapped_answer("would 8 work for me")
    ('friday', '8')
    """
    found = _WRAPPED.fullmatch(plain(text)[:_LONGEST].strip("¿ "))
    return found["said"] if found else text


def opens_correction(text: str) -> bool:
    """Return whether a text takes back what was said before it: "no wait, call dad".

    >>> opens_correction("no wait, call dad"), opens_correction("Monday, no wait, Friday")
    (True, False)
    """
    return _CORRECTS.match(plain(text)[:_LONGEST_CORRECTION]) is not None


_LONGEST_CORRECTION: Final = 400


def _without_leads(said: str) -> Control | None:
    """Return the control command in a text without the words that open and close it."""
    if len(said) > _LONGEST:
        return None
    said, starts = without_accents(said), [0]
    while lead := _LEAD.match(said, starts[-1]):
        starts.append(lead.end())
    ends = [len(said)]
    while tail := _TAIL.search(said[: ends[-1]]):
        ends.append(tail.start())
    for start, end in product(reversed(starts), ends):
        found = _UNACCENTED.get(_MARKS.sub(" ", said[start:end]).strip())
        if found in ("nevermind", "stop", "help", "unsure", "wait"):
            return found
    return None


_MARKS: Final = re.compile(r"[\s,.!…]+")


def _same_in_each_part(said: str) -> Control | None:
    """Return the control command that is said twice: "leave it, never mind"."""
    parts = [part for part in _PARTS.split(said[: _LONGEST + 1]) if part]
    if len(said) > _LONGEST or len(parts) < 2:
        return None
    first, *others = [_CONTROLS.get(part) or _without_leads(part) for part in parts]
    return first if first is not None and all(one == first for one in others) else None


_PARTS: Final = re.compile(r"[\s.]*[,.;!…][\s.]*")

_LONGEST: Final = 60
"""Characters of the longest command with words around it."""


def control_of(text: str) -> Control | None:
    """Return the control command that a text is as a whole; None for any other text.

    >>> control_of("Never mind, thanks."), control_of("cancel my booking at the Hilton")
    ('nevermind', None)
    """
    said = plain(text).strip(" .,!")
    found = _CONTROLS.get(said) or _CONTROLS.get(bare(text)) or _without_leads(said)
    found = found or _CONTROLS.get(said.strip("?¿ ")) or _same_in_each_part(said)
    if found is not None:
        return found
    answer = yesno.said(text, firmly=True)
    return None if answer is None else ("yes" if answer else "no")
