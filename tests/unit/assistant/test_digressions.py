"""A question that is interrupted: the digression is answered, and the question comes back."""

from typing import Any

import pytest

from prolocutor.assistant.assistant import Assistant
from prolocutor.plan.pipeline import Pipeline, Service

DUE = {
    "note milk": "When is it due?",
    "notiere Milch": "Wann ist es fällig?",
    "note du lait": "C'est pour quand ?",
    "apunta leche": "¿Para cuándo es?",
}


FREE = {"take a note": "raw_string", "do a thing": "command", "log me in": "password"}


def todo(request: dict[str, Any]) -> list[dict[str, Any]]:
    said, answer = request["human_utterances"][-1]["text"], request.get("answer")
    if answer is not None:
        text = "Dropped." if answer["kind"] == "cancelled" else f"Due {answer['value']}."
        return [{"text": text, "confidence": 1.0}]
    if kind := FREE.get(said):
        return [{"text": "Tell me.", "confidence": 0.9, "ask": kind}]
    asked = DUE.get(said)
    return [{"text": asked, "confidence": 0.9, "ask": "date"}] if asked else []


def sums(request: dict[str, Any]) -> list[dict[str, Any]]:
    asked = "6 * 9" in request["human_utterances"][-1]["text"]
    return [{"text": "54.", "confidence": 0.9}] if asked else []


async def talk(*texts: str, **settings: Any) -> list[str]:
    skills = [Service("todo", todo, inline=True), Service("sums", sums, inline=True)]
    async with Assistant(Pipeline(skills=skills), store="memory:", **settings) as assistant:
        replies = []
        for text in texts:
            reply = await assistant.reply(text, user="ann")
            shown = reply.attributes.get("messages") or [{"text": reply.text}]
            replies.append(" ".join(one["text"] for one in shown if "text" in one))
    return replies


@pytest.mark.parametrize(
    ("order", "digression"),
    [
        ("note milk", "what is 6 * 9"),
        ("notiere Milch", "was ist 6 * 9"),
        ("note du lait", "combien 6 * 9"),
        ("apunta leche", "cuánto 6 * 9"),
    ],
)
async def test_the_question_stands_again_in_the_reply_to_a_digression(
    order: str, digression: str
) -> None:
    [_, answered, done] = await talk(order, digression, "2030-01-02")
    assert answered == f"54. {DUE[order]}"
    assert done == "Due 2030-01-02."


async def test_after_three_digressions_the_question_is_over() -> None:
    *_, third, fourth = await talk("note milk", *["what is 6 * 9"] * 4)
    assert third == "54. When is it due?"
    assert fourth == "54."


@pytest.mark.parametrize(("way", "said"), [("keep", "Due 2030-01-02."), ("drop", "Sorry.")])
async def test_digressions_may_leave_the_question_open_or_end_it(way: str, said: str) -> None:
    fallback = {"fallback": "Sorry."}
    [_, answered, last] = await talk(
        "note milk", "what is 6 * 9", "2030-01-02", digressions=way, **fallback
    )
    assert answered == "54."
    assert last == said


@pytest.mark.parametrize(
    ("order", "words"),
    [
        ("note milk", "nah never mind"),
        ("note milk", "oh forget it please"),
        ("notiere Milch", "ach vergiss es"),
        ("note du lait", "non laisse tomber"),
        ("apunta leche", "no, déjalo"),
    ],
)
async def test_a_question_is_cancelled_with_words_around_the_command(
    order: str, words: str
) -> None:
    assert (await talk(order, words))[-1] == "Dropped."


@pytest.mark.parametrize(
    ("order", "words", "sample"),
    [
        ("note milk", "banana", "24 December"),
        ("notiere Milch", "Hilfe", "24. Dezember"),
        ("note du lait", "aide", "24 décembre"),
        ("apunta leche", "plátano", "24 de diciembre"),
    ],
)
async def test_words_that_are_no_answer_get_an_example_and_the_question(
    order: str, words: str, sample: str
) -> None:
    last = (await talk(order, words))[-1]
    assert sample in last
    assert last.endswith(DUE[order])


@pytest.mark.parametrize(
    ("order", "words"),
    [
        ("note milk", "2030-01-01.. no wait, 2030-01-02"),
        ("notiere Milch", "2030-01-01, ach nein, doch lieber 2030-01-02"),
        ("note du lait", "non attends, 2030-01-02"),
        ("apunta leche", "2030-01-01, no, espera, 2030-01-02"),
    ],
)
async def test_an_answer_that_is_taken_back_counts_as_it_is_said_last(
    order: str, words: str
) -> None:
    assert (await talk(order, words))[-1] == "Due 2030-01-02."


async def test_hesitation_before_another_question_is_no_correction() -> None:
    [_, answered] = await talk("note milk", "hang on, what is 6 * 9")
    assert answered == "54. When is it due?"


@pytest.mark.parametrize("words", ["leave it, doesn't matter", "vergiss es, doch nicht"])
async def test_a_question_is_cancelled_by_two_commands_in_a_row(words: str) -> None:
    assert (await talk("note milk", words))[-1] == "Dropped."


@pytest.mark.parametrize("order", ["take a note", "do a thing"])
@pytest.mark.parametrize("digression", ["what is 6 * 9", "oh wait, calculate 6 * 9", "6 * 9?"])
async def test_a_question_that_another_skill_answers_is_no_free_text(
    order: str, digression: str
) -> None:
    [_, answered, done] = await talk(order, digression, "call mum")
    assert answered == "54. Tell me."
    assert done == "Due call mum."


@pytest.mark.parametrize(
    ("order", "answer"),
    [
        ("take a note", "what is love?"),
        ("do a thing", "call mum"),
        ("take a note", "6 * 9"),
        ("log me in", "what is 6 * 9"),
    ],
)
async def test_any_other_text_is_the_free_text(order: str, answer: str) -> None:
    assert (await talk(order, answer))[-1] == f"Due {answer}."


def picky(request: dict[str, Any]) -> list[dict[str, Any]]:
    said, answer = request["human_utterances"][-1]["text"], request.get("answer")
    if answer is not None:
        knows = answer["value"] in ("red", "blue")
        return [{"text": f"Painted {answer['value']}.", "confidence": 1.0}] if knows else []
    words = {"ask_again": "Which colour?", "ask_hint": "Say red or blue."}
    asks = {"text": "Paint, then. Which colour?", "confidence": 0.9, "ask": "command", **words}
    return [asks] if said == "paint" else []


async def say_to_picky(*texts: str) -> list[str]:
    skills = [Service("picky", picky, inline=True), Service("sums", sums, inline=True)]
    async with Assistant(Pipeline(skills=skills), store="memory:") as assistant:
        replies = [await assistant.reply(text, user="ann") for text in texts]
        shown = [one.attributes.get("messages") or [{"text": one.text}] for one in replies]
        return [" ".join(one["text"] for one in some) for some in shown]


async def test_words_that_a_skill_declines_as_an_answer_go_to_the_others() -> None:
    [_, answered, done] = await say_to_picky("paint", "6 * 9", "red")
    assert answered == "54. Which colour?"
    assert done == "Painted red."


async def test_words_that_nobody_takes_bring_the_question_with_the_hint_of_its_skill() -> None:
    [_, *again] = await say_to_picky("paint", "banana", "banana", "help")
    asked = "Sorry, I did not understand that. Say red or blue. Which colour?"
    assert again == [asked, asked, "Say red or blue. Which colour?"]


async def test_a_free_answer_corrected_within_is_its_last_version() -> None:
    [_, done] = await say_to_picky("paint", "green, no wait, blue")
    assert done == "Painted blue."


def timer(request: dict[str, Any]) -> list[dict[str, Any]]:
    line = {"key": "tea", "in": 0, "messages": [{"type": "text", "text": "Tea!"}]}
    asks = {"text": "Set. For whom?", "ask": "command", "ask_again": "For whom?"}
    return [{**asks, "confidence": 0.9, "schedule": [line]}]


async def test_a_due_message_is_said_while_a_question_is_open_and_leaves_it_open() -> None:
    async with Assistant(
        Pipeline(skills=[Service("timer", timer, inline=True)]), store="memory:"
    ) as assistant:
        await assistant.reply("tea", user="ann")
        async for row in assistant.feed("ann"):
            if row.message and row.message.get("text") == "Tea!":
                break
        assert (await assistant.archive.waiting("ann")) is not None


@pytest.mark.parametrize(
    ("order", "words", "said"),
    [
        ("note milk", "sorry?", "When is it due?"),
        ("notiere Milch", "wie bitte?", "Wann ist es fällig?"),
        ("apunta leche", "¿cómo?", "¿Para cuándo es?"),
        ("note milk", "hmm, let me think", "Take your time."),
        ("notiere Milch", "Moment mal", "Lass dir Zeit."),
        (
            "note du lait",
            "je ne sais pas",
            (
                "Ce n'est pas grave ; dis « laisse tomber » pour en rester là."
                " Il me faut une date. Par exemple : 24 décembre. C'est pour quand ?"
            ),
        ),
    ],
)
async def test_who_did_not_hear_or_has_to_think_is_not_told_to_be_wrong(
    order: str, words: str, said: str
) -> None:
    assert (await talk(order, words))[-1] == said


@pytest.mark.parametrize("words", ["how about 2030-01-02?", "not sure yet, maybe 2030-01-02"])
async def test_an_offered_answer_is_taken(words: str) -> None:
    assert (await talk("note milk", words))[-1] == "Due 2030-01-02."


async def test_another_skills_answer_after_a_moment_please_is_a_digression() -> None:
    [_, answered, done] = await talk("note milk", "wait, 6 * 9", "2030-01-02")
    assert answered == "54. When is it due?"
    assert done == "Due 2030-01-02."


def asks_and_says_no_more(request: dict[str, Any]) -> list[dict[str, Any]]:
    said, answer = request["human_utterances"][-1]["text"], request.get("answer")
    if answer is not None:
        if answer["kind"] == "cancelled":
            return []
        return [{"text": f"Got {answer['value']}.", "confidence": 0.9}]
    question = {"order some": "How many?", "bestell welche": "Wie viele möchtest du?"}
    question |= {"commande": "Combien en veux-tu ?", "pide": "¿Cuántos quieres?"}
    asked = question.get(said)
    return [{"text": asked, "confidence": 0.9, "ask": "number"}] if asked else []


async def last_reply(*texts: str, ask: Any) -> str:
    skills = [Service("asker", ask, inline=True), Service("clock", clock, inline=True)]
    async with Assistant(Pipeline(skills=skills), store="memory:") as assistant:
        replies = [await assistant.reply(text, user="ann") for text in texts]
    return str(replies[-1].text)


def clock(request: dict[str, Any]) -> list[dict[str, Any]]:
    known = ("what time is it?", "wie spät ist es?", "quelle heure est-il ?", "¿qué hora es?")
    asked = request["human_utterances"][-1]["text"] in known
    return [{"text": "Noon.", "confidence": 0.9}] if asked else []


@pytest.mark.parametrize(
    ("order", "cancel", "confirmed"),
    [
        ("order some", "cancel", "All right, never mind."),
        ("bestell welche", "ach lass", "Gut, lassen wir das."),
        ("commande", "laisse béton", "D'accord, laissons cela."),
        ("pide", "olvídalo mejor", "De acuerdo, lo dejamos."),
    ],
)
async def test_a_cancel_is_confirmed_in_the_language_of_the_question_where_the_asker_says_nothing(
    order: str, cancel: str, confirmed: str
) -> None:
    assert await last_reply(order, cancel, ask=asks_and_says_no_more) == confirmed


@pytest.mark.parametrize(
    ("order", "question"),
    [
        ("order some", "hmm, what time is it?"),
        ("bestell welche", "äh, wie spät ist es?"),
        ("commande", "euh, quelle heure est-il ?"),
        ("pide", "eh, ¿qué hora es?"),
    ],
)
async def test_another_skill_hears_a_question_without_the_hesitation_before_it(
    order: str, question: str
) -> None:
    assert (await last_reply(order, question, ask=asks_and_says_no_more)).startswith("Noon.")


@pytest.mark.parametrize("question", ["äh, wie spät ist es?", "euh, quelle heure est-il ?"])
async def test_a_question_is_no_name_for_a_place_where_another_skill_answers_it(
    question: str,
) -> None:
    def where(request: dict[str, Any]) -> list[dict[str, Any]]:
        if request["human_utterances"][-1]["text"] == "travel":
            return [{"text": "Where to?", "confidence": 0.9, "ask": "location"}]
        return []

    assert (await last_reply("travel", question, ask=where)).startswith("Noon.")


@pytest.mark.parametrize(
    ("order", "answer", "number"),
    [
        ("order some", "three, no four", 4),
        ("order some", "12, sorry, 13", 13),
        ("bestell welche", "drei, nein vier", 4),
        ("bestell welche", "äh drei, nein doch vier bitte", 4),
        ("commande", "trois, non quatre", 4),
        ("pide", "tres, no cuatro", 4),
    ],
)
async def test_a_number_that_is_mended_in_one_sentence_is_the_later_one(
    order: str, answer: str, number: int
) -> None:
    assert await last_reply(order, answer, ask=asks_and_says_no_more) == f"Got {number}."


@pytest.mark.parametrize(
    ("order", "answer"), [("bestell welche", "drei, nicht vier"), ("commande", "trois, pas quatre")]
)
async def test_a_number_that_is_declined_is_not_taken(order: str, answer: str) -> None:
    assert await last_reply(order, answer, ask=asks_and_says_no_more) != "Got 4."


@pytest.mark.parametrize(
    ("order", "answer", "heard"),
    [
        ("order some", "we are seven many", "Got 7."),
        ("bestell welche", "wir sind sieben", "Got 7."),
        ("commande", "nous serons sept", "Got 7."),
        ("pide", "seremos siete", "Got 7."),
        ("order some", "not seven", "Sorry, I did not understand that."),
        ("bestell welche", "Regen sieben", "Das habe ich leider nicht verstanden."),
    ],
)
async def test_a_number_counts_among_words_that_say_nothing_and_those_of_the_question(
    order: str, answer: str, heard: str
) -> None:
    assert (await last_reply(order, answer, ask=asks_and_says_no_more)).startswith(heard)


async def test_the_reply_to_a_digression_says_whose_question_stands_again() -> None:
    skills = [
        Service("asker", asks_and_says_no_more, inline=True),
        Service("clock", clock, inline=True),
    ]
    async with Assistant(Pipeline(skills=skills), store="memory:") as assistant:
        await assistant.reply("order some", user="ann")
        reply = await assistant.reply("what time is it?", user="ann")
    assert reply.attributes["asked_by"] == "asker"
