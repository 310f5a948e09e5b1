"""What people say when an answer was wrong or right, in four languages."""

import pytest

from prolocutor.plugins.pairing.hints.hint_phrases import rejects, thanks

REJECTIONS = """
no, that is wrong|That's not what I asked.|no|nope|wrong|that is not right|no that's incorrect
That isn't what I asked for|not what i meant|you misunderstood me|you didn't answer my question
That doesn't help|no, I asked for the price|that is nonsense|it's wrong, I think|I didn't ask that
thanks, but that's wrong|ok but this is not what I wanted|wrong answer!|you are wrong|try again
that was not what I was looking for|that's not it|This is the wrong answer|that did not answer it
falsch|Nein, das ist falsch|das stimmt nicht|Das habe ich nicht gefragt|das war nicht meine Frage
das meinte ich nicht|du hast mich falsch verstanden|Nein, ich meinte den Zug|das hilft mir nicht
c'est faux|non, ce n'est pas ça|Ce n'est pas ce que j'ai demandé|mauvaise réponse|ça ne m'aide pas
vous avez mal compris|faux|eso no es lo que pregunté|no, eso está mal|no es correcto|te equivocas
respuesta incorrecta|no me has entendido
"""
PRAISE = """
thanks|Thank you so much!|thx|perfect|great, thanks|that's right|exactly|ok thanks a lot|correct
thank you, that helped|that's exactly what I needed|good answer|danke|Vielen Dank!|super, danke
genau|das ist richtig|stimmt|merci beaucoup|c'est parfait|génial, merci|muchas gracias|perfecto
eso es|gracias
"""
NEITHER = """
is it wrong to lie?|what is the wrong way to hold a knife|no parking in berlin|ok|and tomorrow?
that is my dog|I was not born in 1990|what's the right amount of salt|thank my mother for me
send a thank you card to ann|no thanks|nein danke|non merci|no gracias|that's wrong?|yes|hello|
how do I say thanks in french|you|tell me again what you said about wrong answers|good morning
it is raining, is it not|book the right one|stop|cancel that|das ist mein hund|wie geht das
eso es un perro|c'est un chien|not now|set a timer for 9 minutes
"""


def lines(text: str) -> list[str]:
    return [one for line in text.strip().splitlines() for one in line.split("|") if one]


@pytest.mark.parametrize("text", lines(REJECTIONS))
def test_a_rejection_is_known(text: str) -> None:
    assert rejects(text) is True
    assert thanks(text) is False


@pytest.mark.parametrize("text", lines(PRAISE))
def test_thanks_are_known(text: str) -> None:
    assert rejects(text) is False
    assert thanks(text) is True


@pytest.mark.parametrize("text", [*lines(NEITHER), "", "wrong " * 100])
def test_other_words_are_neither(text: str) -> None:
    assert rejects(text) is False
    assert thanks(text) is False


def test_a_mere_no_to_a_question_is_its_answer() -> None:
    assert [rejects("no", asked=True), rejects("no, that is wrong", asked=True)] == [False, True]


def test_words_of_thanks_without_end_are_read_in_one_pass() -> None:
    assert not thanks("super " * 32 + "x")
    assert not rejects("no " * 60 + "x")
