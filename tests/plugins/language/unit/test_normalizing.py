"""Words as people type and speak them, brought into the spelling that agents know."""

from typing import NamedTuple

import pytest

from prolocutor.contracts.connector import AgentProfile
from prolocutor.plugins.language.follow_up.normalizing import Normalizer
from prolocutor.plugins.language.follow_up.spelling import Spelling

CARD = {
    "description": "Tracks parcels, tosses pennies, tells the opening hours of pharmacies",
    "examples": ["where is parcel RB123", "which pharmacy is on duty in Leeds", "toss a penny"],
}


class Words(NamedTuple):
    words: frozenset[str]
    complete: bool
    right: frozenset[str] = frozenset()

    def knows(self, word: str) -> bool:
        return word in self.right


def post_words(code: str) -> Words:
    if code == "en":
        return Words(frozenset("stamp envelope scales".split()), True, frozenset({"stomp"}))
    return Words(frozenset({"briefmarke"}), False)


POST = AgentProfile(name="post", card=CARD, vocabulary=post_words)


@pytest.mark.parametrize(
    ("said", "code", "meant"),
    [
        ("where is my parcle RB123", "en", "where is my parcel RB123"),
        ("whihc pharmcy is no duty", "en", "which pharmacy is no duty"),
        ("how many stamps ina parcel", "en", "how many stamps in a parcel"),
        ("um what's uh twenty five times four", "en", "what's twenty five times four"),
        ("yeah so which pharmacy is on duty please", "en", "which pharmacy is on duty"),
        ("which which pharmacy is is on duty", "en", "which pharmacy is on duty"),
        ("where is where is my parcel", "en", "where is my parcel"),
        ("pharmacies in Baden Baden", "en", "pharmacies in Baden Baden"),
        ("track track my parcel", "en", "track my parcel"),
        ("where is my uh which pharmacy is on duty", "en", "which pharmacy is on duty"),
        ("who is the what", "en", "who is the what"),
        ("what is uh what's on duty", "en", "what's on duty"),
        ("pu tmy stamp on it", "en", "put my stamp on it"),
        ("pu tstamps on it", "en", "put stamps on it"),
        ("stamps an d scales", "en", "stamps and scales"),
        ("on b duty", "en", "on b duty"),
        ("for let me think two days", "en", "for two days"),
        ("track it that's it thanks", "en", "track it"),
        ("let's see the parcel", "en", "let's see the parcel"),
        ("in like twenty minutes or so", "en", "in twenty minutes"),
        ("which parcel does it like", "en", "which parcel does it like"),
        ("put like stamps on it", "en", "put stamps on it"),
        ("sorry to bother you but which pharmacy is on duty", "en", "which pharmacy is on duty"),
        ("bananas please", "en", "bananas"),
        ("ad stamps", "en", "add stamps"),
        ("an ad for stamps", "en", "an ad for stamps"),
        ("wher is my parcel thes yaer", "en", "where is my parcel this year"),
        ("which pharmacy this wek", "en", "which pharmacy this week"),
        ("how mny stamps", "en", "how many stamps"),
        ("an in leeds", "en", "and in leeds"),
        ("an envelope", "en", "an envelope"),
        ("on dty", "en", "on duty"),
        ("a stomp", "en", "a stomp"),
        ("a stommp", "en", "a stomp"),
        ("toss a peny", "en", "toss a penny"),
        ("an stamp", "en", "and stamp"),
        ("20 wit 5", "en", "20 with 5"),
        ("which pharmacy is on duty in stomp", "en", "which pharmacy is on duty in stomp"),
        ("stamps oder und", "en", "stamps oder und"),
        ("track it please on friday", "en", "track it on friday"),
        ("the openning hours tommorow", "en", "the opening hours tomorrow"),
        ("wehre cna i buy an envelpoe", "en", "where can i buy an envelope"),
        ("r u open tmrw", "en", "are you open tomorrow"),
        ("nad hte scales", "en", "and the scales"),
        ("the openinghours ofthe pharmacy", "en", "the opening hours of the pharmacy"),
        ("äh wie spät ist es bitte", "de", "wie spät ist es"),
        ("eine breifmarke", "de", "eine briefmarke"),
        ("euh quelle heure est-il s'il te plaît", "fr", "quelle heure est-il"),
        ("porfa q hora es", "es", "que hora es"),
        ("is Parcle a town", "en", "is Parcel a town"),
        ("is Parxel a town", "en", "is Parxel a town"),
        ("write to parcle@example.com", "en", "write to parcle@example.com"),
        ("dance and stomp", "en", "dance and stomp"),
        ("another word for big", "en", "another word for big"),
        ("two parcels", "en", "two parcels"),
        ('say "yes please"', "en", 'say "yes please"'),
        ("thanks", "en", "thanks"),
        ("where is my parcel :)", "en", "where is my parcel"),
        ("wo ist meine Briefmarke? 😀", "de", "wo ist meine Briefmarke?"),
        ("a parcel lol", "en", "a parcel"),
        ("🙂", "en", "🙂"),
        ("send a 🍕", "en", "send a 🍕"),
    ],
)
def test_words_get_the_spelling_of_agents_and_names_stay(said: str, code: str, meant: str) -> None:
    assert Normalizer([POST]).normalized(said, code).bare == meant


def test_words_that_open_and_close_a_text_are_kept_for_follow_ups() -> None:
    assert Normalizer([POST]).normalized("so um the parcle then", "en").spelled == (
        "so the parcel then"
    )


@pytest.mark.parametrize("typed", ["lettuce", "kefir", "sally", "hakone"])
def test_a_word_far_from_all_others_stays(typed: str) -> None:
    assert Spelling(["letter", "coffee", "sorry", "phone"], boldly=True).word_for(typed) == ""


def test_the_nearer_of_two_words_is_meant_and_of_two_as_near_none() -> None:
    spelling = Spelling(["bread", "broad", "stove", "store"], boldly=True)

    assert spelling.word_for("braed") == "bread"
    assert spelling.word_for("stoe") == ""


@pytest.mark.parametrize(
    "said",
    [
        "forget the letter about cancer",
        "my income and the update of this form",
        "is the washer nearby, and whatever belongs to it",
        "another lesson in the afternoon, together with the longest one",
        "draw pi*r^2, uh-huh",
    ],
)
def test_words_that_no_agent_names_stay_where_there_is_no_dictionary(said: str) -> None:
    parcels = AgentProfile(name="parcels", card=CARD)

    assert Normalizer([parcels]).normalized(said, "en").spelled == said


def test_umlauts_of_known_words_are_read_where_keys_lack_them() -> None:
    normalizer = Normalizer()
    assert normalizer.normalized("wieso hat der Koenig fuer uns", "de").spelled == (
        "wieso hat der Koenig für uns"
    )


def test_a_german_es_is_read_where_its_vowel_is_left_out() -> None:
    assert Normalizer().normalized("was wiegt's denn", "de").spelled == "was wiegt es denn"


@pytest.mark.parametrize("said", ["add scalse", "add the stemp", "put envelopee"])
def test_a_thing_in_an_order_keeps_its_name_though_another_is_near(said: str) -> None:
    assert Normalizer([POST]).normalized(said, "en").spelled == said


def test_a_thing_in_words_that_go_on_from_an_order_keeps_its_name() -> None:
    normalizer = Normalizer([POST])
    assert normalizer.normalized("and scalse", "en").spelled == "and scales"
    assert normalizer.normalized("and scalse", "en", keeps=True).spelled == "and scalse"


def test_an_order_has_the_words_of_the_cards_in_their_spelling() -> None:
    assert Normalizer([POST]).normalized("track my parcle", "en").spelled == "track my parcel"


def test_a_word_with_accents_is_no_slip_of_one_without() -> None:
    words = Words(frozenset({"cuando", "señal"}), True)
    agent = AgentProfile(name="signs", card={}, vocabulary=lambda code: words)
    normalizer = Normalizer([agent])
    assert normalizer.normalized("qué dice mi cuñado", "es").spelled == "qué dice mi cuñado"
    assert normalizer.normalized("qué dice la señla", "es").spelled != "qué dice la señla"
