import string
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prolocutor.contracts.connector import AgentProfile
from prolocutor.plugins.language.follow_up.annotator import LONGEST_QUESTION, FollowUps
from prolocutor.plugins.language.follow_up.grammar import grammar_of
from prolocutor_demo.follow_ups import continues
from tests.demo.agent_requests import agents_with_phrasings, phrasings

# The agent of these turns brings the rules of the demo's agents.
annotate = FollowUps([AgentProfile(name="agent", continues=continues)])


def dialog(*texts: str, **changes: Any) -> dict[str, Any]:
    """The agent state in which these were said in turn; `changes` are the last reply's."""
    utterances: list[dict[str, Any]] = [
        {"text": text, "attributes": {}, "annotations": {}}
        | ({"active_skill": "agent"} if place % 2 else {})
        for place, text in enumerate(texts)
    ]
    if len(utterances) > 1:
        utterances[-2].update(changes)
    return {"utterances": utterances, "human_utterances": utterances[::2]}


def meant(*texts: str, **changes: Any) -> str | None:
    found = annotate(dialog(*texts, **changes)).get("text")
    return str(found).rstrip("?") if found else None


@pytest.mark.parametrize(
    ("said", "replied", "then", "whole"),
    [
        ("Wie spät ist es in Tokio?", "", "und in Paris?", "Wie spät ist es in Paris"),
        ("Wie spät ist es in Rom?", "", "nein, ich meinte Bonn", "Wie spät ist es in Bonn"),
        ("Was ist 12 mal 8?", "12 mal 8 = 96", "und durch 4?", "96 durch 4"),
        ("Welcher Tag ist heute?", "", "und morgen?", "Welcher Tag ist morgen"),
        ("Wie groß ist Peru?", "", "und die Hauptstadt?", "Was ist die hauptstadt von Peru"),
        ("Wie groß ist Peru?", "", "Wer lebt dort?", "Wer lebt in Peru"),
        ("Wie groß ist Peru?", "", "Wie geht es dir?", None),
        ("Wie groß ist Peru?", "", "danke schön", None),
        ("Quelle heure est-il à Tokyo ?", "", "et à Paris ?", "Quelle heure est-il à Paris"),
        ("Combien d'habitants a l'Espagne ?", "", "et la France ?",
         "Combien d'habitants a la France"),
        ("Quelle est la monnaie du Japon ?", "", "et le Portugal ?",
         "Quelle est la monnaie du Portugal"),
        ("Raconte-moi une blague", "Ha.", "encore une", "Raconte-moi une blague"),
        ("¿Cuántos kilómetros son 10 millas?", "", "¿y 20 millas?",
         "¿Cuántos kilómetros son 20 millas"),
        ("¿Cuál es la moneda de Japón?", "", "¿y la de China?", "¿Cuál es la moneda de China"),
        ("¿Qué hora es en Tokio?", "", "¿Cuánto es 12 por 8?", None),
        ("wie spät ist es in tokio", "", "und new york", "wie spät ist es in new york"),
        ("wie groß ist peru", "", "zurück zu chile, was ist die hauptstadt",
         "was ist die hauptstadt in chile"),
        ("was ist 20% von 150", "", "und wenn ich 25% nehme", "was ist 25% von 150"),
        ("20 grad celsius in fahrenheit", "", "andersrum", "20 fahrenheit in grad celsius"),
        ("capitale de la norvege", "", "quelle heure est il la bas",
         "quelle heure est il en norvege"),
        ("combien de jours avant le 1er mai", "", "et le 14 juillet",
         "combien de jours avant le 14 juillet"),
        ("que hora es en tokio", "", "perdon quise decir lima", "que hora es en lima"),
    ],
)  # fmt: skip
def test_follow_ups_in_german_french_and_spanish_are_asked_whole_in_their_language(
    said: str, replied: str, then: str, whole: str | None
) -> None:
    found = meant(said, replied, then)
    assert (found and found.rstrip(" ?").lower()) == (whole and whole.lower())


@pytest.mark.parametrize(
    ("said", "then", "whole", "language"),
    [
        ("what time is it in Tokyo?", "und in Paris?", "what time is it in Paris", "en"),
        ("capital de francia", "and spain?", "capital de spain", "es"),
        ("capital of Germany", "et de la france ?", "capital of france", "en"),
        ("how big is Peru", "und die Hauptstadt?", "Was ist die hauptstadt von Peru", None),
        ("Wie spät ist es in Tokio?", "in English please", "Wie spät ist es in Tokio", "de"),
        ("100 euros in dollars", "en yens", "100 euros in yens", None),
    ],
)
def test_after_words_of_another_language_the_question_says_which_it_is_in(
    said: str, then: str, whole: str, language: str | None
) -> None:
    found = annotate(dialog(said, "", then))

    assert found["text"].rstrip("?").lower() == whole.lower()
    assert found.get("language") == language


@pytest.mark.parametrize(
    ("said", "replied", "then", "whole"),
    [
        ("what time is it in Tokyo", "", "and in Paris?", "what time is it in Paris"),
        ("capital of Peru", "Lima", "what about Chile", "capital of Chile"),
        ("capital of Peru", "Lima", "no, I meant Chile", "capital of Chile"),
        ("capital of Peru", "Lima", "not Peru, Chile", "capital of Chile"),
        ("capital of Peru", "Lima", "how many live there?", "how many live in Peru"),
        ("what day is 1 May 2027", "A Saturday.", "and 2 May?", "what day is 2 May 2027"),
        ("is 1 May a holiday", "No.", "what day is it", None),
        ("tea or coffee, which is it", "Tea.", "tell me a joke", None),
        ("choose between tea and coffee", "Tea.", "or milk?",
         "choose between tea, coffee and milk"),
        ("how many days until May", "9", "and how many weeks is that?",
         "how many weeks until May"),
        ("€50 in dollars", "57", "what about 75", "€75 in dollars"),
        ("how old is someone born in 1990", "36", "and someone born in 2001?",
         "how old is someone born in 2001"),
        ("what time is it in Rome", "1", "there tomorrow?", "what time is it in Rome tomorrow"),
        ("time in Tokyo", "9", "my car cost 9 dollars, how much is that in euros", None),
        ("capital of Peru", "Lima", "and its area?", "what is the area of Peru"),
        ("100 euros in dollars", "115", "and in yen?", "100 euros in yen"),
        ("100 euros in dollars", "115", "the other way round", "100 dollars in euros"),
        ("100 euros in dollars", "115", "and 250 euros?", "250 euros in dollars"),
        ("what is 12 times 8?", "12 * 8 = 96", "and divided by 7?", "96 divided by 7"),
        ("what is 12 times 8?", "12 * 8 = 96", "half of that", "96 divided by 2"),
        ("what's 30 km", "30 km = 3000 m", "convert that to miles", "convert 30 km to miles"),
        ("is it open today", "Yes.", "what about tomorrow?", "is it open tomorrow"),
        ("when is Easter", "On 5 April.", "how long until then", "how long until Easter"),
        ("tell me a joke", "Ha.", "another one", "tell me a joke"),
        ("tell me a joke", "Ha.", "another one about cats", "tell me a joke about cats"),
        ("wake me at 5pm", "Done.", "make that 6pm", "wake me at 6pm"),
        ("add milk to my list", "Done.", "eggs too", "add eggs to my list"),
        ("add milk to my list", "Done.", "remove it", "remove milk from my list"),
        ("define zeal", "Fervor.", "use it in a sentence", "use zeal in a sentence"),
        ("time in Springfield", "Illinois or Ohio?", "the second one", "time in Ohio"),
        ("time in Springfield", "Illinois or Ohio?", "what is the area of the second one",
         "what is the area of Ohio"),
        ("capital of Peru", "Lima", "back to Tokyo, what day is it there",
         "what day is it in Tokyo"),
        ("population of Peru", "32 million", "is that more than Chile",
         "is the population of Peru more than Chile"),
        ("when is Easter next year", "On 28 March 2027.", "and the year after",
         "when is Easter in 2028"),
        ("18% tip on 45", "8.1", "what if i tip 20%", "20% tip on 45"),
        ("remind me to call mum", "Done.", "at 5pm actually", "remind me to call mum at 5pm"),
        ("how big is Peru", "Very.", "wow! is it bigger than Chile", "is Peru bigger than Chile"),
    ],
)  # fmt: skip
def test_words_after_a_turn_mean_a_whole_question(
    said: str, replied: str, then: str, whole: str | None
) -> None:
    assert meant(said, replied, then) == whole


def test_a_follow_up_of_a_follow_up_goes_on_from_what_that_meant() -> None:
    state = dialog("time in Tokyo", "9", "and Paris?", "1", "and in Rome?")
    first = annotate(dialog("time in Tokyo", "9", "and Paris?"))
    state["utterances"][2]["annotations"] = {"follow_up": first}

    assert annotate(state)["text"] == "time in Rome"
    assert annotate(state)["of"] == "time in Paris"


def test_courtesies_in_between_are_passed_over() -> None:
    assert (
        meant("time in Tokyo", "9", "thanks!", "You are welcome.", "and in Rome?") == "time in Rome"
    )


def test_the_entity_of_the_winner_is_the_slot_that_is_replaced() -> None:
    said = "play something by Queen on the radio"

    assert meant(said, "Playing.", "and Abba?", attributes={"entities": ["Queen"]}) == (
        "play something by Abba on the radio"
    )


def test_nothing_is_rewritten_while_an_agent_asks() -> None:
    assert (
        meant("book a table", "When?", "and at 6pm?", attributes={"ask": {"kind": "time"}}) is None
    )


def test_a_digression_is_gone_on_with_while_the_question_stands_again() -> None:
    told = {"ask": "date", "asked_by": "table"}

    assert meant(
        "what is the capital of Chile?", "Santiago. When?", "and of Peru?", attributes=told
    ) == ("what is the capital of Peru")


@pytest.mark.parametrize(
    ("told", "then", "whole"),
    [
        ("move the meeting to Tuesday at 9", "no, at 10", "move the meeting to Tuesday at 10"),
        ({"text": "what is the capital of Peru"}, "and Chile?", "what is the capital of Chile"),
        (
            {"text": "convert 5 miles to kilometers", "language": "en"},
            "und 10?",
            "convert 10 miles to kilometers",
        ),
    ],
)
def test_an_answer_is_gone_on_with_as_the_question_that_it_completed(
    told: Any, then: str, whole: str
) -> None:
    assert meant("the answer", "Done.", then, attributes={"question": told}) == whole


@pytest.mark.parametrize(
    ("said", "then"),
    [
        ("mets un minuteur de 5 minutes", "mets un minuteur de 9 minutes"),
        ("pon un temporizador de 5 minutos", "pon un temporizador de 9 minutos"),
        ("mach einen Timer auf 5 Minuten", "mach einen Timer auf 9 Minuten"),
    ],
)
def test_an_order_of_another_thing_corrects_nothing(said: str, then: str) -> None:
    assert meant(said, "Set.", then) is None


def test_a_word_before_what_is_replaced_is_not_said_twice() -> None:
    assert meant("remind me to ring Tom", "Noted.", "no wait, ring Tina") == (
        "remind me to ring Tina"
    )


def test_nothing_is_rewritten_at_the_beginning() -> None:
    assert annotate(dialog("and in Paris?")) == {}


def test_hardly_any_phrasing_that_stands_alone_is_rewritten() -> None:
    texts = [one.text for agent in agents_with_phrasings() for one in phrasings(agent)]

    spoilt = [one for one in texts if annotate(dialog("time in Tokyo", "It is 9.", one)).get("of")]

    assert len(spoilt) <= 0.02 * len(texts), spoilt


def turns_of(pattern: str) -> list[list[str]]:
    files = sorted((Path(__file__).parents[3] / "demo" / "dialogs").glob(pattern))
    lines = [line for file in files for line in file.read_text("utf-8").splitlines()]
    said = [line.rpartition("=>")[0].strip() for line in lines if not line.startswith("#")]
    return [turns.split(" | ") for turns in said if turns]


def last_annotation(turns: list[str]) -> dict[str, Any]:
    """What is found of the last turn, where every reply is a sum."""
    utterances: list[dict[str, Any]] = []
    for turn in turns:
        state = dialog(*[one["text"] for one in utterances], turn)
        for before, said in zip(utterances, state["utterances"], strict=False):
            said["annotations"] = before["annotations"]
        state["utterances"][-1]["annotations"]["follow_up"] = found = annotate(state)
        reply = {"text": "6 * 7 = 42", "annotations": {}, "active_skill": "any"}
        utterances = [*state["utterances"], reply]
    return found


def test_of_the_dialogs_of_the_demo_follow_ups_alone_are_rewritten() -> None:
    kept = [turns for turns in turns_of("*follow_ups.txt") if not last_annotation(turns)]
    spoilt = [turns for turns in turns_of("*alone.txt") if last_annotation(turns).get("of")]

    assert len(kept) <= 0.1 * len(turns_of("*follow_ups.txt")), kept
    assert len(spoilt) <= 0.02 * len(turns_of("*alone.txt")), spoilt


PARTS = st.sampled_from(
    "and what about in the that it 7 % times of Paris tomorrow no, I meant 5pm one too there its"
    " convert to miles other way round second ( * [ \\ ? . ... between or 12:30 not".split()
)
WORDS = st.one_of(
    st.lists(PARTS, max_size=14).map(" ".join), st.text(max_size=300), st.text(string.printable)
)


@given(WORDS, WORDS, WORDS)
@settings(max_examples=80, deadline=None)
def test_any_words_give_a_short_question_or_none_and_the_same_one_again(
    said: str, replied: str, then: str
) -> None:
    state = dialog(said, replied, then)

    found = annotate(state)

    assert found == {} or 0 < len(found["text"]) <= LONGEST_QUESTION
    assert found == {} or 0 < found["confidence"] <= 1
    assert annotate(state) == found


@pytest.mark.parametrize(
    ("said", "then", "whole"),
    [
        ("set a timer for 3 minutes", "not 3, 5 minutes", "set a timer for 5 minutes"),
        ("add paint to my list", "sorry, print not paint", "add print to my list"),
        ("wo ist die Post in Bonn", "nicht Bonn, sondern Köln", "wo ist die Post in Köln"),
        ("add call john to my list", "i meant call joan", "add call joan to my list"),
        ("add nutmeg, flour and figs", "flour no starch", "add nutmeg, starch and figs"),
        ("add nutmeg and figs", "dad said not figs, dates", "add nutmeg and dates"),
        ("weigh 17 parcels on scale 6", "i meant 71", "weigh 71 parcels on scale 6"),
        ("how far is Gloster", "*Glostar", "how far is Glostar"),
        ("book a table in Dunvegan", "Portree*", "book a table in Portree"),
        ("knead it for 16 minutes", "not sixteen, sixty", "knead it for sixty minutes"),
        ("knead it for 16 minutes", "oops make that an hour and 5", "knead it for an hour and 5"),
        ("add figs to the list", "autocorrect, i meant fries", "add fries to the list"),
        ("add figs to the list", "never mind order a van", "order a van"),
        ("remind me to buy bread", "no, figs", "remind me to buy figs"),
        ("a ferry to Islay", "i meant Jura sorry", "a ferry to Jura"),
        ("what time is it in Rome", "scratch that", "scratch that"),
        ("mets un minuteur", "non, oublie ça", "non, oublie ça"),
        ("pon un temporizador", "deshaz eso", "deshaz eso"),
    ],
)
def test_what_was_not_meant_is_named_as_a_correction(said: str, then: str, whole: str) -> None:
    found = FollowUps()(dialog(said, "Done.", then))

    assert found["text"] == whole
    assert found["corrects"] is True
    assert found["of"] == said


@pytest.mark.parametrize("then", ["and 15 minutes", "no, set another timer for 15 minutes"])
def test_what_comes_on_top_is_no_correction(then: str) -> None:
    assert "corrects" not in annotate(dialog("set a timer for 10 minutes", "Done.", then))


def test_after_words_that_took_something_back_the_turn_before_them_goes_on() -> None:
    state = dialog("what time is it in Rome", "One.", "scratch that", "All right.", "and in Oslo?")
    first = FollowUps()(dialog("what time is it in Rome", "One.", "scratch that"))
    state["utterances"][2]["annotations"]["follow_up"] = first

    assert FollowUps()(state)["text"] == "what time is it in Oslo"


ASKED = [
    ("who are the neighbours of Spain", "France, Portugal, Andorra and Morocco."),
    ("what time is it in Rome", "It is 13:00 on Friday."),
    ("tell me a joke", "Ha."),
]


@pytest.mark.parametrize(
    ("then", "whole", "of"),
    [
        ("back to Rome, and in Oslo?", "what time is it in Oslo", 1),
        ("so going back to spain, what's its capital", "what's the capital of spain", 0),
        ("back to rome whats the weather there", "what's the weather in rome", 1),
        ("as i asked before, the time?", "what time is it in Rome", 1),
        ("and what was the second one again", "who are the neighbours of Spain", 0),
        ("the neighbours thing again, but Peru", "who are the neighbours of Peru", 0),
        ("and in Oslo?", "what time is it in Oslo", 1),
        ("and Oslo", "what time is it in Oslo", 1),
        ("tell me about Oslo", None, None),
        ("back to cooking", None, None),
    ],
)
def test_words_come_back_to_an_earlier_turn(then: str, whole: str | None, of: int | None) -> None:
    said = [text for both in ASKED for text in both]

    found = FollowUps()(dialog(*said, then))

    expected = (whole, None if of is None else ASKED[of][0])
    assert (found.get("text", "").rstrip("?") or None, found.get("of")) == expected


def test_what_an_agent_is_for_tells_what_words_come_back_to() -> None:
    clock = AgentProfile(name="agent", card={"description": "Tells the weather and the hour"})

    found = FollowUps([clock])(dialog("is it wet in Rome", "No.", "back to the weather, in Oslo?"))

    assert found["text"].rstrip("?") == "is it wet in Oslo"


def test_the_annotator_of_a_pipeline_has_read_every_language_before_its_first_turn() -> None:
    ready = FollowUps().with_skills([])
    before = grammar_of.cache_info().misses

    ready(dialog("wie spät ist es", "13:00", "und in Rom?"))

    assert grammar_of.cache_info().misses == before


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("what is 80 divided by 0.5, I mean by 5", "what is 80 divided by 5"),
        ("send 3 parcels to Rome, sorry, to Oslo", "send 3 parcels to Oslo"),
        ("prices in Madrid, sorry I meant Moscow", "prices in Moscow"),
        (
            "could you reserve us a table for uh let me see eleven guests no make that twelve",
            "reserve us a table for twelve guests",
        ),
        ("wie spät ist es in Paris, nein, London", "wie spät ist es in London"),
    ],
)
def test_a_request_is_mended_by_its_own_last_words(said: str, meant: str) -> None:
    state = {"human_utterances": [{"text": said}], "utterances": [{"text": said}]}
    assert FollowUps()(state)["text"] == meant


@pytest.mark.parametrize(
    "said",
    ["add figs, no, forget it", "book a hut actually scratch that", "add figs wait never mind"],
)
def test_an_order_that_its_own_last_words_take_back_is_none(said: str) -> None:
    state = {"human_utterances": [{"text": said}], "utterances": [{"text": said}]}
    assert FollowUps()(state)["text"] == "never mind"


def test_words_that_an_order_is_about_do_not_take_it_back() -> None:
    said = "remind us to forget it"
    assert FollowUps()({"human_utterances": [{"text": said}], "utterances": [{"text": said}]}) == {}


def test_a_whole_request_after_words_that_take_back_stands_for_the_last_turn() -> None:
    found = FollowUps()(dialog("what's 13 * 17", "221", "wrong number sorry, 13 * 19"))
    assert found["text"] == "13 * 19"
    assert found["corrects"] is True


@pytest.mark.parametrize(
    ("said", "whole"),
    [
        ("my aunt moved to Rome which ferry leaves there", "which ferry leaves in Rome"),
        (
            "my aunt lives in Rome. when does the ferry leave there?",
            "when does the ferry leave in Rome",
        ),
        ("remind my aunt when she is in Rome", None),
    ],
)
def test_a_question_after_a_statement_is_about_the_place_that_it_names(
    said: str, whole: str | None
) -> None:
    assert (annotate(dialog(said)).get("text") if whole else meant(said)) == whole


@pytest.mark.parametrize(
    ("asked", "said", "whole"),
    [
        ("ferries to Rome and to Genoa", "and to Nice and Bari", "ferries to Nice and Bari"),
        ("ferries to Rome, Genoa and Bari", "and Lucca and Pisa", "ferries to Lucca and Pisa"),
    ],
)
def test_two_things_take_the_place_of_all_that_were_asked_about(
    asked: str, said: str, whole: str
) -> None:
    assert meant(asked, "At 9.", said) == whole


@pytest.mark.parametrize(
    ("asked", "said", "whole"),
    [
        ("book a ferry for Rome", "no, Genoa", "book a ferry for Genoa"),
        (
            "wrap a parcel for two minutes for tea",
            "no make it rice",
            "wrap a parcel for two minutes for rice",
        ),
        ("add eggs and milk to the cart", "no not milk cream", "add eggs and cream to the cart"),
    ],
)
def test_a_correction_names_the_thing_that_is_like_it(asked: str, said: str, whole: str) -> None:
    assert meant(asked, "Done.", said) == whole


def test_an_order_is_denied_in_its_own_words() -> None:
    assert annotate(dialog("add wine to the cart", "Added.", "don't add wine"))["corrects"]


def test_a_turn_without_an_answer_is_not_gone_on_from() -> None:
    said = ("ferries to Rome", "At 9.", "gibberish of Genoa", "No idea.", "and to Nice")

    assert meant(*said, attributes={"no_answer": True}) == "ferries to Nice"


@pytest.mark.parametrize("words", ["track the parcel from before", "track that last parcel"])
def test_words_point_back_to_the_turn_whose_agent_deals_with_their_noun(words: str) -> None:
    post = AgentProfile(name="agent", card={"description": "Tracks parcels"})
    state = dialog("where is RB7", "In Rome.", "is it late", "It is 9.", words)
    state["utterances"][3]["active_skill"] = "clock"

    assert annotate.with_skills([post])(state)["text"] == "track RB7"
