"""How follow-ups are worded in German, French and Spanish: data, one record a language.

Patterns are parts of regular expressions, matched without regard to case and accents. English has
rules of its own; its record is for dialogs in which the language changes.
"""

from __future__ import annotations

import re
from typing import Final

import msgspec

from prolocutor_demo.reading.accents import without_accents


class Wording(msgspec.Struct, frozen=True):
    """The words of one language.

    `opens`: words that go on, or correct. `courtesy`: what is no question. `again`: all
    of "one more". `another`: "another" before a noun, the group `noun`. `places`: "there",
    `in_place` the preposition before a name instead. `of_it`: "its" or "the" before a property.
    `properties`: what things have, with `property_question` to ask for it. `prepositions`: classes
    of prepositions that lead to the same slot, each with its articles, in the same order in all
    languages. `articles`: those before a name. `days`: "tomorrow", "on Monday". `operators`: what
    goes on with a number. `months`: their names. `asks`: words that begin a whole question.
    `swaps`: all of "the other way round".
    `contractions`: what a preposition and an article become.
    """

    opens: str
    courtesy: str
    again: str
    another: str
    places: str
    in_place: str
    of_it: str
    properties: str
    property_question: str
    prepositions: tuple[str, ...]
    articles: str
    days: str
    operators: str
    asks: str
    months: str
    swaps: str
    contractions: tuple[tuple[str, str], ...] = ()


_DE: Final = Wording(
    opens=(
        r"und|oder|aber|also|dann|jetzt|ok(?:ay)?|gut|ach|wie (?:ist|sieht) es (?:mit|in|bei)"
        r"|was ist mit|das(?:selbe| gleiche) (?:für|mit)|auch"
        r"|nein|nee|nö|ups|oh|wenn (?:ich|man|wir|es)|nicht"
        r"|sorry|entschuldigung|halt|ich (?:meinte|meine|wollte|sagte)|eigentlich"
        r"|(?:doch )?lieber|besser|stattdessen|mach(?:'?s| es)?(?: doch)?(?: lieber)?(?= \d)"
    ),
    courtesy=(
        r"danke?|vielen dank|dankeschön|ok(?:ay)?|gut|super|prima|toll|schön|klasse|ja|nein|ach so"
        r"|alles klar|verstanden|hallo|hi|hey|bitte|aha|interessant|sehr|wow|moment|genau"
        r"|dir|ihnen|euch|lol|haha+|cool|krass|nett"
    ),
    again=(
        r"(?:noch ?mal|nochmals|noch (?:ein(?:e[nrs]?|s)?|'nen)(?: mal)?|(?:ein|eine[nrs]?) "
        r"ander(?:e[nrs]?)|weiter|wiederhol(?:e|en)?(?: das| es)?|mehr(?: davon)?)(?: bitte)?"
    ),
    another=r"(?:noch|ein(?:e[nrs]?)?) (?:ein(?:e[nrs]?)?|ander(?:e[nrs]?)?) (?P<noun>[\w-]+)",
    places=r"dort(?:hin)?|da",
    in_place="in",
    of_it=r"(?:sein|ihr|der|die|das|deren|dessen|ein)(?:e[nrsm]?)?",
    properties=(
        r"hauptstadt|währung|einwohnerzahl|bevölkerung|fläche|größe|sprachen?|vorwahl"
        r"|nachbarländer|nachbarn|uhrzeit|zeit|datum|einwohner"
    ),
    property_question="Was ist die {relation} von {owner}?",
    prepositions=(
        r"in|im|auf|bei|am|an|nach",
        r"von|vom|aus|der|des",
        r"bis(?: zum| zu| zur)?|zum|zur|zu",
        r"seit(?: dem| der)?",
        r"für",
        r"durch",
    ),
    articles=r"der|die|das|den|dem|des",
    days=(
        r"(?:über)?morgen|(?:vor)?gestern|heute|(?:am |nächste[nrm]? |diese[nrm]? |letzte[nrm]? )?"
        r"(?:mon|diens|donners|frei|sams|sonn)tag|(?:am )?mittwoch"
    ),
    operators=r"plus|minus|mal|(?:geteilt |dividiert )?durch|hoch|multipliziert mit|[-+*/x×÷]",
    asks=(
        r"wie|was|wer|wo|wann|warum|wieso|welche[nrsm]?|ist|sind|hat|haben|kannst|kann|bist|gib"
        r"|sag|nenn|erzähl|zeig|rechne|mach|stell|füge|lösch|ich|du|wir|es|gibt|wirf|sprichst"
        r"|wie ?viele?|mit was|womit|wofür|auf welche[nrsm]?|an welche[nrsm]?"
    ),
    months=(
        r"januar|jänner|februar|märz|april|mai|juni|juli|august|september|oktober|november|dezember"
    ),
    swaps=r"anders ?(?:he)?rum|umgekehrt|rückwärts|in die andere richtung|das gegenteil davon",
    contractions=(
        ("von die", "von der"),
        ("in die", "in der"),
        ("in dem", "im"),
        ("von das", "vom"),
    ),
)
_FR: Final = Wording(
    opens=(
        r"et|ou|mais|alors|maintenant|ok|bon|ah|qu'en est[- ]il(?= d)|(?:et )?pour(?= [A-Z])"
        r"|la même (?:chose|question)(?: pour)?|idem pour|aussi"
        r"|non|nan|oups|oh|si (?:je|on|c'est|c'était)|pardon"
        r"|désolée?|excuse[zs]?(?:-moi)?|je (?:voulais|veux) dire|je parlais de|plutôt"
        r"|en fait|pas|mets(?:[- ]en|[- ]l[ea])?(?: plutôt)?(?= \d)"
    ),
    courtesy=(
        r"merci(?: bien| beaucoup)?|d'accord|ok|bien|très|super|parfait|génial|oui|non|bonjour"
        r"|salut|s'il (?:te|vous) plaît|ah|intéressant|compris|cool|wow|de rien|mdr|lol|haha+|stp"
        r"|beaucoup|à toi"
    ),
    again=(
        r"(?:encore(?: une?(?: fois)?)?|une? autre|de nouveau|à nouveau|répète|plus|une? de plus)"
        r"(?: s'il (?:te|vous) plaît)?"
    ),
    another=r"(?:encore une?|une? autre) (?P<noun>[\w-]+)",
    places=r"là[- ]bas|là(?=\W*$)",
    in_place="en",
    of_it=r"sa|son|ses|leurs?|la|le|les|l'",
    properties=(
        r"capitale|monnaie|population|superficie|taille|langues?|indicatif|voisins|heure|date"
        r"|pays voisins"
    ),
    property_question="Quelle est la {relation} de {owner} ?",
    prepositions=(
        r"à(?: la)?|à l'|au|aux|en|dans",
        r"de(?: la)?|de l'|d'|du|des",
        r"jusqu'(?:à|au|aux|en)(?: la)?",
        r"depuis(?: le| la)?",
        r"pour",
        r"par",
    ),
    articles=r"le|la|les|l'",
    days=(
        r"(?:après-)?demain|(?:avant-)?hier|aujourd'hui|(?:lundi|mardi|mercredi|jeudi|vendredi"
        r"|samedi|dimanche)(?: prochain| dernier)?"
    ),
    operators=r"plus|moins|fois|multiplié par|divisé par|puissance|[-+*/x×÷]",
    asks=(
        r"quel(?:le)?s?|qui|que|quoi|où|quand|comment|combien|pourquoi|est-ce|qu'est|dis|donne"
        r"|raconte|montre|convertis|calcule|parles?|peux|je|tu|il|lance|ajoute|mets|es-tu|as-tu"
        r"|c'?est|avec quelle"
    ),
    months=(
        r"janvier|février|mars|avril|mai|juin|juillet|août|septembre|octobre|novembre|décembre"
    ),
    swaps=r"(?:et )?(?:l'? ?inverse|à l'? ?envers|vice versa|dans l'autre sens|le contraire)",
    contractions=(
        ("en la", "en"),
        ("en le", "au"),
        ("en les", "aux"),
        ("de le", "du"),
        ("de les", "des"),
        ("à le", "au"),
        ("à les", "aux"),
        ("du le", "du"),
        ("du la", "de la"),
        ("du les", "des"),
        ("au la", "à la"),
    ),
)
_ES: Final = Wording(
    opens=(
        r"y|e|o|pero|entonces|ahora|ok|vale|ah|qué tal|qué (?:hay|pasa) (?:de|con)"
        r"|lo mismo (?:para|con|en)|también"
        r"|no|nah|ups|uy|si (?:son|fueran?|es)|perdón"
        r"|perdona|lo siento|disculpa|quer[ií]a decir|quise decir|me refer[ií]a a|mejor"
        r"|en realidad|digo|(?:mejor )?(?:que sean|pon(?:lo)?(?: a| en)?|hazlo de)(?= \d)"
    ),
    courtesy=(
        r"(?:muchas )?gracias|vale|de acuerdo|ok|bien|muy|genial|perfecto|sí|no|hola|por favor|ah"
        r"|interesante|entendido|de nada|buenos días|buenas (?:tardes|noches)|estupendo|claro"
        r"|jaja\w*|lol|guay"
    ),
    again=(
        r"(?:otr[oa](?: vez| más)?|un[oa]? más|una vez más|de nuevo|repite(?:lo)?|más|sigue)"
        r"(?: por favor)?"
    ),
    another=r"otr[oa] (?P<noun>[\w-]+)",
    places=r"allí|ahí|allá",
    in_place="en",
    of_it=r"sus?|el|la|los|las",
    properties=(
        r"capital|moneda|población|superficie|tamaño|idiomas?|prefijo|vecinos|hora|fecha"
        r"|países vecinos"
    ),
    property_question="¿Cuál es la {relation} de {owner}?",
    prepositions=(
        r"en(?: el| la)?|a(?: la)?|al",
        r"(?:l[ao]s? )?(?:de(?: la)?|del)",
        r"hasta(?: el| la)?|para(?: el| la)?",
        r"desde(?: el| la)?",
        r"con",
        r"entre",
    ),
    articles=r"el|la|los|las",
    days=(
        r"(?:pasado )?mañana|(?:antes de )?ayer|anteayer|hoy|(?:el (?:próximo )?)?(?:lunes|martes"
        r"|miércoles|jueves|viernes|sábado|domingo)"
    ),
    operators=(
        r"más|menos|por|(?:dividido )?entre|dividido por|multiplicado por|elevado a|[-+*/x×÷]"
    ),
    asks=(
        r"qu[ée]|qui[ée]n(?:es)?|c[óo]mo|cu[áa]ndo|d[óo]nde|cu[áa]l(?:es)?|cu[áa]nt[oa]s?|dime|dame"
        r"|cu[ée]nta(?:me)?|muestra|convierte|calcula|hablas?|puedes|yo|es|son|tira|añade|pon"
    ),
    months=(
        r"enero|febrero|marzo|abril|mayo|junio|julio|agosto|septiembre|octubre|noviembre|diciembre"
    ),
    swaps=r"(?:y )?(?:al revés|a la inversa|lo contrario|viceversa|en sentido contrario)",
    contractions=(("de el", "del"), ("del el", "del"), ("del la", "de la"), ("a el", "al")),
)
_EN: Final = Wording(
    opens=(
        r"and|or|but|also|then|now|ok(?:ay)?|so|well|(?:what|how) about|same for"
        r"|no+|nope|nah|sorry|wait|i meant?|actually|make (?:it|that)|rather"
    ),
    courtesy=r"thanks|thank you|ok(?:ay)?",
    again=r"again|once more|(?:and )?another(?: one)?|one more(?: time)?|repeat(?: that)?",
    another=r"(?:another|one more) (?P<noun>[\w-]+)",
    places=r"there",
    in_place="in",
    of_it=r"its|their|the|his|her",
    properties=(
        r"capital(?: city)?|currency|population|area|size|languages?|calling code|neighbou?rs"
        r"|time|date"
    ),
    property_question="What is the {relation} of {owner}?",
    prepositions=(
        r"in|into|at|on|to",
        r"of|from",
        r"until|till|before",
        r"since",
        r"for|with",
        r"by|between",
    ),
    articles=r"the",
    days=r"today|tomorrow|yesterday",
    operators=r"plus|minus|times|divided by|multiplied by|[-+*/x×÷]",
    asks=(
        r"what(?:'?s)?|how|who(?:'?s)?|where(?:'?s)?|when(?:'?s)?|which|is|are|do|does|did|can|could"
        r"|tell|give|show|set|add|i|you|we|it"
    ),
    months=(
        r"january|february|march|april|may|june|july|august|september|october|november|december"
    ),
    swaps=r"(?:the )?other way(?: a?round)?|vice versa|(?:the )?reverse",
)
WORDINGS: Final = {"de": _DE, "fr": _FR, "es": _ES}
ALL_WORDINGS: Final = {**WORDINGS, "en": _EN}

_COURTESY: Final = re.compile(
    without_accents(
        rf"(?>[¡¿]?(?:{'|'.join(one.courtesy for one in WORDINGS.values())})\b[\s,.!?]*)++"
    ),
    re.IGNORECASE,
)


def is_worded_courtesy(text: str) -> bool:
    """Whether a text is greetings, thanks or assent in German, French or Spanish, and no more."""
    return _COURTESY.fullmatch(without_accents(text.strip()) + " ") is not None
