"""Words as people type and speak them, brought into the spelling that agents know."""

import pytest

from prolocutor.contracts.connector import AgentProfile
from prolocutor.plugins.language.follow_up.normalizing import Normalizer

CARD = {
    "description": "Tracks parcels, tells the opening hours of pharmacies",
    "examples": ["where is parcel RB123", "which pharmacy is on duty in Leeds"],
}


@pytest.mark.parametrize(
    ("said", "code", "normalized"),
    [
        ("where is my parcle RB123", "en", "where is my parcel RB123"),
        ("which pharmcy is on duty", "en", "which pharmacy is on duty"),
        ("um what's uh twenty five times four", "en", "what's twenty five times four"),
        ("ok which pharmacy is on duty please", "en", "which pharmacy is on duty"),
        ("bananas please", "en", "bananas"),
        ("the openning hours tommorow", "en", "the opening hours tomorrow"),
        ("äh wie spät ist es bitte", "de", "wie spät ist es"),
        ("euh quelle heure est-il s'il te plaît", "fr", "quelle heure est-il"),
        ("is Parcle a town", "en", "is Parcle a town"),
        ("another word for big", "en", "another word for big"),
        ("two parcels", "en", "two parcels"),
        ("thanks", "en", "thanks"),
    ],
)
def test_words_get_the_spelling_of_cards_and_names_stay(
    said: str, code: str, normalized: str
) -> None:
    assert Normalizer([AgentProfile(name="post", card=CARD)]).normalized(said, code) == normalized
