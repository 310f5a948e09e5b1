"""The demo's agents in German, French and Spanish, and their catalogues."""

import gettext
import importlib
import io
import re
from pathlib import Path
from typing import Any

import pytest
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po

from prolocutor.plugins.language.declining import answer as decline
from prolocutor.plugins.language.language import notice
from prolocutor_demo.reading.languages import heard
from prolocutor_demo.reading.languages.heard import heard_in
from prolocutor_demo.reading.languages.messages import MESSAGES
from prolocutor_demo.reading.languages.names import LANGUAGES
from prolocutor_demo.reading.languages.orders import order_in
from prolocutor_demo.reading.languages.said import CATALOGUES, DOMAIN, said_in
from prolocutor_demo.reading.vocabulary import vocabulary
from tests.demo.agent_requests import request

LINES = {
    code: [
        line.split("\t")
        for line in (Path(__file__).parent / "languages" / f"{code}.txt")
        .read_text(encoding="utf-8")
        .splitlines()
    ]
    for code in LANGUAGES
}
AGENTS = "calculator units clock days currency countries jokes small_talk".split()


def test_a_language_is_ready_before_its_first_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    heard_in.cache_clear()
    heard._read_wording.cache_clear()
    vocabulary.cache_clear()
    vocabulary("de")

    monkeypatch.setattr(heard, "_pattern", None)  # nothing is compiled any more

    assert heard_in("de", "wie spät ist es in Rom") == "what time is it in rome"


def said(text: str, code: str | None = None, **attributes: Any) -> dict[str, Any]:
    asked = request(text, attributes)
    language = {"code": code} if code else notice(asked)
    asked["human_utterances"][-1]["annotations"]["language"] = language
    agents = [importlib.import_module(f"prolocutor_demo.{name}").answer for name in AGENTS]
    replies = [reply for agent in (*agents, decline) for reply in agent(asked)]
    best: dict[str, Any] = max(replies, key=lambda reply: reply["confidence"])
    return best


@pytest.mark.parametrize("code", LANGUAGES)
def test_the_core_of_the_demo_answers_in_each_language(code: str) -> None:
    missed = []
    for text, expected in LINES[code]:
        reply = said(text, code)["text"]
        if not re.search(expected, reply, re.IGNORECASE):
            missed.append((text, reply))
    assert missed == []


@pytest.mark.parametrize("code", LANGUAGES)
def test_no_catalogue_lacks_a_message_and_each_is_compiled(code: str) -> None:
    folder = CATALOGUES / code / "LC_MESSAGES"
    with (folder / f"{DOMAIN}.po").open("rb") as file:
        catalogue = read_po(file, locale=code)
    assert [one for one in MESSAGES if not (catalogue.get(one) and catalogue[one].string)] == []
    assert {one.id for one in catalogue if one.id} == set(MESSAGES)
    made = io.BytesIO()
    write_mo(made, catalogue)
    made.seek(0)
    with (folder / f"{DOMAIN}.mo").open("rb") as compiled:
        shipped = gettext.GNUTranslations(compiled)
    fresh = gettext.GNUTranslations(made)
    assert [shipped.gettext(one) for one in MESSAGES] == [fresh.gettext(one) for one in MESSAGES]


@pytest.mark.parametrize("code", LANGUAGES)
def test_every_placeholder_of_a_translation_is_one_of_its_message(code: str) -> None:
    translations = gettext.translation(DOMAIN, CATALOGUES, [code])
    for message in MESSAGES:
        given = {
            name for found in re.findall(r"\{(\w+)\}", message) for name in (found, f"of_{found}")
        }
        assert set(re.findall(r"\{(\w+)\}", translations.gettext(message))) <= given


def test_what_has_no_words_in_a_language_is_said_in_english_and_noted_once() -> None:
    first = said("tell me about Portugal", "de")
    assert first["text"].startswith("Das kann ich nur auf Englisch sagen: Portugal is in Europe.")
    told = first["human_attributes"]
    assert said("tell me about Portugal", "de", **told)["text"].startswith("Portugal is in Europe.")


def test_names_and_numbers_are_those_of_the_language() -> None:
    assert said_in("de", "Switzerland borders 5 countries: Germany, Italy and France.") == (
        "Die Schweiz grenzt an 5 Länder: Deutschland, Italien und Frankreich."
    )
    assert said_in("fr", "1 day = 1,440 minutes") == "1 jour = 1\u202f440 minutes"
    assert said_in("es", "Today is Friday, 20 November 2026.") == (
        "Hoy es viernes, 20 de noviembre de 2026."
    )


@pytest.mark.parametrize(
    ("code", "words", "english"),
    [
        ("de", "Setz Milch auf meine Einkaufsliste", "add Milch to my shopping list"),
        ("de", "Erinnere mich morgen um 9 an den Arzt", "remind me to Arzt tomorrow at 9"),
        (
            "de",
            "vergiss nicht, morgen um 9 Anna anzurufen",
            "remind me to Anna anzurufen tomorrow at 9",
        ),
        ("fr", "n'oublie pas d'appeler Anna demain", "remind me to appeler Anna tomorrow"),
        ("es", "no olvides llamar a Anna mañana", "remind me to llamar a Anna tomorrow"),
        ("de", "am Montag um halb sieben", "on monday at 6:30"),
        ("fr", "ajoute du lait à ma liste de courses", "add lait to my shopping list"),
        (
            "fr",
            "rappelle-moi d'appeler Anna demain à 8h",
            "remind me to appeler Anna tomorrow at 8:00",
        ),
        ("es", "añade leche a mi lista de la compra", "add leche to my shopping list"),
        ("es", "mañana a las 9 de la tarde", "tomorrow at 9 in the afternoon"),
    ],
)
def test_lists_and_reminders_are_read_and_names_of_things_kept(
    code: str, words: str, english: str
) -> None:
    assert (order_in(code, words) or heard_in(code, words)) == english


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("de", "Auf deiner Liste (Einkauf) steht jetzt: Milch, Brot."),
        ("fr", "Ajouté à ta liste (courses) : Milch, Brot."),
        ("es", "Añadido a tu lista (compra): Milch, Brot."),
    ],
)
def test_what_a_list_says_is_said_in_each_language(code: str, said: str) -> None:
    assert said_in(code, "Added to your shopping list: Milch, Brot.") == said


def test_a_reply_of_several_sentences_or_lines_is_said_if_each_is() -> None:
    lines = "Your todo list:\n1. Milch\n2. Brot (tomorrow at 09:00)"
    assert said_in("de", lines) == ("Deine Liste (Aufgaben):\n1. Milch\n2. Brot (morgen um 09:00)")
    assert said_in("de", "You have 1 reminder. The moon is far.") is None


def test_a_remark_in_english_is_left_out_of_a_name() -> None:
    told = "The capital of Chile is Santiago (the parliament sits in Valparaíso)."
    assert said_in("fr", told) == "La capitale du Chili est Santiago."


@pytest.mark.parametrize(
    ("code", "words", "english"),
    [
        ("de", "kannst du bitte noch Butter auf die Liste setzen", "add Butter to my list"),
        (
            "de",
            "Stell einen Timer für die Nudeln auf 9 Minuten",
            "set a timer for 9 minutes for the Nudeln",
        ),
        (
            "de",
            "zwei Timer, einen für 5 und einen für 10 Minuten",
            "set a timer for 5 minutes and a timer for 10 minutes",
        ),
        ("de", "wie lange brauchen die Nudeln noch", "how long is left on the nudeln timer"),
        ("de", "stell noch einen auf 7 Minuten", "set one for 7 minutes"),
        ("de", "mach den Timer aus", "cancel the timer"),
        ("de", "nimm die Eier runter", "remove Eier"),
        ("de", "lösch beide", "remove both"),
        ("fr", "démarres-en un", "start one"),
        ("fr", "mets-le en pause", "pause it"),
        ("fr", "il reste combien", "how long is left on the timer"),
        ("fr", "y a-t-il un minuteur en cours ?", "which timers are running"),
        (
            "fr",
            "du pain et des œufs sur la liste de courses",
            "add pain and œufs to my shopping list",
        ),
        ("es", "cancélalo", "cancel it"),
        ("es", "cancela el temporizador", "cancel the timer"),
        ("es", "cuánto le queda a la pasta", "how long is left on the pasta timer"),
        ("es", "borra los dos", "remove both"),
        ("es", "para el temporizador", "cancel the timer"),
        ("es", "pon un temporizador para", "set a timer"),
        ("es", "cuánto les falta", "how long is left on the timer"),
        ("es", "anota una cosa", "add something to my list"),
        ("es", "apunta jabón y también esponjas", "add jabón and esponjas"),
        ("de", "ach so, Honig dazu", "add Honig"),
        ("de", "da fehlt noch Seife auf der Liste", "add Seife to my list"),
        ("de", "die Seife wieder runter", "remove Seife"),
        ("de", "setz Käse auf die Liste und Öl", "add Käse and Öl to my list"),
        (
            "de",
            "stell einen Timer auf 3 Minuten für Tee und noch einen auf 9 für Eier",
            "set a timer for 3 minutes for the Tee and a timer for 9 minutes for the Eier",
        ),
        ("fr", "ajoute du thé sur ma liste et puis des œufs", "add thé and œufs to my list"),
        ("fr", "seriez-vous gentil d'ajouter du sel à ma liste", "add sel to my list"),
    ],
)
def test_orders_are_read_by_their_parts_in_any_order(code: str, words: str, english: str) -> None:
    assert order_in(code, words) == english


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("de", "wie lange noch bis Weihnachten"),
        ("de", "wann ist Ostern"),
        ("de", "wie lange dauert ein Flug nach Rom"),
        ("fr", "combien font 5 plus 5"),
        ("es", "cuánto es 5 por 5"),
        ("de", "wie viel ist 3 mal 4 und ich brauche dann auch noch Seife auf der Liste"),
        ("de", "setz Öl auf die Liste und sag mir dann was daraufsteht"),
        ("fr", "ajoute 7"),
        ("de", "was steht dazu"),
    ],
)
def test_questions_about_other_things_are_no_orders(code: str, words: str) -> None:
    assert order_in(code, words) is None


@pytest.mark.parametrize(
    ("code", "words", "english"),
    [
        ("de", "hör mal, wie viele Menschen leben eigentlich so in Kenia", "population of kenya"),
        ("de", "Hauptstadt Kenias", "capital of kenya"),
        ("fr", "tiens, le Kenya, on y parle quoi déjà", "language is spoken in kenya"),
        ("es", "oye, ¿y en Kenia con qué se paga?", "currency of kenya"),
        ("es", "mira, ¿en Nairobi qué hora marcan?", "what time is it in nairobi"),
    ],
)
def test_a_place_and_the_word_for_a_fact_make_a_question_in_any_order(
    code: str, words: str, english: str
) -> None:
    assert str(heard_in(code, words)).endswith(english)


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("de", "wie viele Einwohner hat die Hauptstadt von Kenia"),
        ("de", "leben meine Freunde in Kenia"),
        ("fr", "la capitale du Kenya et du Ghana"),
    ],
)
def test_two_facts_two_places_or_other_words_make_no_question_about_a_place(
    code: str, words: str
) -> None:
    assert heard_in(code, words) is None


@pytest.mark.parametrize(
    ("code", "words", "english"),
    [
        ("de", "ganz lieben Dank, bis morgen", "thank you, goodbye"),
        ("fr", "t'es super gentil, à demain", "well done, goodbye"),
        ("es", "eres un cielo, hasta pronto", "well done, goodbye"),
        ("de", "alles fit bei dir", "how are you"),
        ("fr", "quoi de neuf", "how are you"),
        ("de", "mir geht's heute echt elend", "i had a bad day"),
        ("fr", "j'ai passé une sale journée", "i had a bad day"),
        ("es", "vaya día malo", "i had a bad day"),
        ("es", "nada más por hoy", "thank you"),
    ],
)
def test_remarks_are_heard_each_by_itself(code: str, words: str, english: str) -> None:
    assert heard_in(code, words) == english


@pytest.mark.parametrize(
    ("code", "words", "english"),
    [
        ("de", "verdopple das", "double it"),
        ("de", "ups, ohne Honig", "leave out Honig"),
        ("fr", "finalement sans les olives", "leave out olives"),
        ("es", "mejor sin aceitunas", "leave out aceitunas"),
        ("de", "zieh davon 4 ab", "subtract 4"),
        ("fr", "enlève-lui 4", "subtract 4"),
        ("fr", "divise-le par 4", "divide it by 4"),
        ("es", "súmale 4", "add 4"),
        ("es", "y la mitad de eso", "halve it"),
    ],
)
def test_operations_upon_a_result_or_a_list_are_heard(code: str, words: str, english: str) -> None:
    assert heard_in(code, words) == english


def test_sentences_are_said_each_before_one_message_is_made_of_them() -> None:
    told = said_in("de", "You are welcome. Goodbye! Come back whenever you like.")
    assert told == f"{said_in('de', 'You are welcome.')} " + str(
        said_in("de", "Goodbye! Come back whenever you like.")
    )
