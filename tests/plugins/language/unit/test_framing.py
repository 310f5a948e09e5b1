"""A request is read without the greetings, thanks and remarks before and after it."""

import pytest

from prolocutor.plugins.language.follow_up.framing import as_direct_question, request_in
from prolocutor.plugins.language.follow_up.grammar import grammar_of


@pytest.mark.parametrize(
    ("code", "said", "request_"),
    [
        ("en", "hello, I hope you're well. where is my parcel?", "where is my parcel?"),
        ("en", "my aunt wants to know where my parcel is, thanks a lot", "where my parcel is"),
        ("en", "hiya, hope you're good! where is my parcel?", "where is my parcel?"),
        ("en", "sorry to bug you again but where is my parcel", "where is my parcel"),
        ("en", "may I ask which stamps I have", "which stamps I have"),
        ("en", "that's great, thanks! now track my order", "track my order"),
        ("en", "send a letter, thanks so much, have a great day", "send a letter"),
        ("en", "is the office open? thanks in advance, you're the best", "is the office open?"),
        ("en", "forgive a silly question: where is my parcel?", "where is my parcel?"),
        ("en", "parcels until Friday, just curious?", "parcels until Friday?"),
        ("de", "hallo, ich hoffe es geht dir gut. wo ist mein Paket?", "wo ist mein Paket?"),
        ("de", "kurze Frage: wo ist mein Paket? danke dir", "wo ist mein Paket?"),
        ("fr", "bonjour, j'espère que vous allez bien, où est mon colis ?", "où est mon colis ?"),
        ("fr", "ma tante voudrait savoir où est mon colis, merci", "où est mon colis"),
        ("es", "hola, espero que estés bien, ¿dónde está mi carta?", "dónde está mi carta?"),
        ("es", "mi tía quiere saber dónde está mi carta, gracias", "dónde está mi carta"),
        ("en", "we are having a row here: where is the depot?", "where is the depot?"),
        ("en", "I'd be so pleased if you told me where the depot is", "where the depot is"),
        ("en", "would you be an angel and track my order", "track my order"),
        ("en", "could you remind me which stamps I have", "which stamps I have"),
        ("en", "before I forget, track my order", "track my order"),
        ("de", "wärst du so nett, mir zu verraten, wo mein Paket ist?", "wo mein Paket ist?"),
        ("de", "sei so gut und such mein Paket", "such mein Paket"),
        (
            "de",
            "Tag, ich hoffe, ich störe nicht. wären Sie so gut, mir zu sagen, wo mein Paket ist?",
            "wo mein Paket ist?",
        ),
        ("fr", "auriez-vous la bonté de me dire où est mon colis ?", "où est mon colis ?"),
        ("fr", "soyez gentil et cherche mon colis", "cherche mon colis"),
        ("es", "¿sería tan amable de decirme dónde está mi carta?", "dónde está mi carta?"),
        ("es", "cuando puedas busca mi carta", "busca mi carta"),
        ("es", "¿puedes decirme dónde está mi carta?", "dónde está mi carta?"),
        ("en", "now 3 parcels to Rome", "3 parcels to Rome"),
        ("en", "thank you, dear. And to Rome, where my son lives?", "And to Rome?"),
        ("en", "perfect, and 40 kg?", "and 40 kg?"),
        ("en", "track my order, I need it tomorrow", "track my order"),
        (
            "en",
            "where is the depot in Rome i mean my aunt lives there",
            "where is the depot in Rome",
        ),
        ("en", "send a parcel to Rome because my aunt waits", "send a parcel to Rome"),
        ("en", "where is the parcel right now you know", "where is the parcel right now"),
        ("en", "How lovely. And to Rome, should you know?", "And to Rome?"),
        ("en", "And to Rome, if I may ask?", "And to Rome?"),
        ("en", "Long day at work. Anyway, where is my parcel?", "where is my parcel?"),
        ("en", "ugh what a day. anyway where is my parcel", "where is my parcel"),
        ("en", "our ship leaves at 6 so send the parcel at 4", "send the parcel at 4"),
        ("en", "I am packing and I need to send 3 parcels, could you help", "send 3 parcels"),
        ("en", "track 2 parcels and send 3 letters", "track 2 parcels and send 3 letters"),
        ("en", "send a parcel to Rome, because my aunt waits", "send a parcel to Rome"),
        ("en", "remind my aunt, my uncle and my son", "remind my aunt, my uncle and my son"),
        ("en", "please could you be a darling and track my order", "track my order"),
        ("en", "might I trouble you for the price of a parcel?", "the price of a parcel?"),
        ("de", "danke, und nach Rom, wo mein Sohn wohnt?", "und nach Rom?"),
        ("fr", "merci, et à Lyon, où habite ma fille ?", "et à Lyon?"),
        ("es", "gracias, y a Sevilla, donde vive mi hija?", "y a Sevilla?"),
        ("de", "jetzt such mein Paket", "such mein Paket"),
    ],
)
def test_chat_around_a_request_is_left_out(code: str, said: str, request_: str) -> None:
    grammar = grammar_of(code)
    assert grammar is not None
    assert request_in(said, grammar) == request_


@pytest.mark.parametrize(
    "said",
    [
        "hello there, how are you?",
        "thanks a lot, have a nice day",
        "where is my parcel, and what does a stamp cost",
        "I have 3 boxes with 12 stamps each. how many stamps is that?",
        "write to my aunt that I hope she is well",
        "no wait, the blue one",
        "no wait, send the blue one",
        "if we pay today, what does a stamp cost",
        "before noon, which ferries are there",
        "for Leeds, which ferries are there",
        "I wrapped it and send it tomorrow",
        "can you weigh this parcel and print 2 labels",
        "I need to weigh this parcel and print 2 labels",
    ],
)
def test_words_that_belong_to_what_is_meant_stay(said: str) -> None:
    grammar = grammar_of("en")
    assert grammar is not None
    assert request_in(said, grammar) == said


def test_a_request_within_an_opening_remark_is_kept() -> None:
    grammar = grammar_of("en")
    assert grammar is not None
    said = "by the way what time is it, and where is my parcel"
    assert request_in(said, grammar) == "what time is it, and where is my parcel"


@pytest.mark.parametrize(
    ("code", "said", "question"),
    [
        ("en", "hang on, where is my parcel", "where is my parcel"),
        ("de", "ähm warte, wo ist mein Paket?", "wo ist mein Paket?"),
        ("es", "este... espera, ¿dónde está mi carta?", "dónde está mi carta?"),
    ],
)
def test_words_of_correction_before_a_question_are_hesitation(
    code: str, said: str, question: str
) -> None:
    grammar = grammar_of(code)
    assert grammar is not None
    assert request_in(said, grammar) == question


def test_words_that_an_order_points_back_to_stay() -> None:
    grammar = grammar_of("en")
    assert grammar is not None
    said = "I have packed the parcel, send it"
    assert request_in(said, grammar) == said


@pytest.mark.parametrize(
    ("code", "indirect", "direct"),
    [
        ("en", "how much 12 x 12 is", "how much is 12 x 12"),
        ("en", "what a third of 90 would be", "what would a third of 90 be"),
        ("de", "was die Hauptstadt von Peru ist", "was ist die Hauptstadt von Peru"),
        ("de", "wie spät es ist", "wie spät ist es"),
        ("en", "what day it is", "what day it is"),
        ("en", "what is the capital of Peru", "what is the capital of Peru"),
    ],
)
def test_an_indirect_question_is_made_a_direct_one(code: str, indirect: str, direct: str) -> None:
    grammar = grammar_of(code)
    assert grammar is not None
    assert as_direct_question(indirect, grammar) == direct


@pytest.mark.parametrize(
    ("said", "direct"),
    [
        ("wann das Postamt zumacht", "wann macht das Postamt zu"),
        ("wie lange die Zustellung dauert", "wie lange dauert die Zustellung"),
        ("wie viele Pakete man schicken kann", "wie viele Pakete kann man schicken"),
        ("welche Briefmarke man braucht", "welche Briefmarke braucht man"),
        ("wie der Bote heißt", "wie heißt der Bote"),
        ("wer den Brief geschrieben hat", "wer hat den Brief geschrieben"),
        ("wie heißt der Bote", "wie heißt der Bote"),
        ("wie viele Leute wohnen in Rom", "wie viele Leute wohnen in Rom"),
        ("was steht in dem Brief", "was steht in dem Brief"),
    ],
)
def test_the_verb_at_the_end_of_a_german_question_comes_second(said: str, direct: str) -> None:
    grammar = grammar_of("de")
    assert grammar is not None
    assert as_direct_question(said, grammar) == direct
