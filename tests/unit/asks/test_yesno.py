"""Yes and no in many wordings, and what only sounds like them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prolocutor.asks.answers import NotUnderstood, Understood
from prolocutor.asks.kinds import take_value
from tests.unit.asks.contexts import BERLIN, value

YES = """yes|Yes.|YES!!!|yesss|yeah|yea|yep|yup|ya|aye|y|uh-huh|mhm|sure|sure thing|for sure|ok|
okay|fine|alright|all right then|absolutely|definitely|certainly|of course|indeed|exactly|
correct|right|true|affirmative|please do|go ahead|do it|let's do it|sounds good|works for me|
why not?|you bet|by all means|no problem|no doubt|that's right|that is correct|I do|I am|
I think so|I guess so|I'd love to|I would like that|it is|yes please|yes, please!|yeah sure|
oh yes, absolutely|yes yes yes|ok then, yes|sure, why not|with pleasure|agreed|fine by me|👍|
👍🏽|yup, thanks|well, yes|“Yes”|yes, it is|good idea|
Ich stimme zu|zustimmen, bitte|j'approuve|aprobado|
yes go on|ja mach das|oui vas-y|sí, adelante"""
NO = """no|No.|NOOOO|nope|nah|naw|nay|n|never|negative|not really|not at all|not now|not today|
no way|no thanks|no thank you|No, thank you very much!|no need|absolutely not|certainly not|
of course not|I don't think so|I do not think so|I think not|I don't|I don’t want to|I'm not|
I'd rather not|don't|do not|please don't|wrong|false|incorrect|that's not right|it isn't|
no no no|oh no|ok, no thanks|yeah no|no, that's fine|nah, I'm good|no, it's okay|not likely|
under no circumstances|by no means|no, thanks anyway|👎|no, not really|uh-uh|nuh-uh|hell no|
decline|no sir|ablehnen|Ich lehne ab.|je refuse|rechazar"""
NEITHER = """yesterday|no idea|not yet|I know|yes what?|nobody|okay google play jazz|no one|
nothing|north|yellow|knock knock|now|know|nonsense|not sure|I'm not sure|I don't know|
no comment|no more|yes and no|yes no|no. yes.|maybe|perhaps|yes?|no?|ok?|right?|really?|why|
why not try jazz|yes, at seven|never mind|true story|false alarm|good question|good morning|
it is what it is|no problems with the train?|No way, José|hello|please|thanks|well|notes|okra|
yesteryear|noon|do it like this|right away from here|I do yoga|sure enough money|fine print|
I'm fine"""


def phrases(table: str) -> list[str]:
    return "".join(table.split("\n")).split("|")


@pytest.mark.parametrize("text", phrases(YES))
def test_yes_has_many_wordings(text: str) -> None:
    assert value("yesno", text) is True


@pytest.mark.parametrize("text", phrases(NO))
def test_no_has_many_wordings(text: str) -> None:
    assert value("yesno", text) is False


@pytest.mark.parametrize("text", [*phrases(NEITHER), "", "  ", "?", "..."])
def test_what_only_sounds_like_it_is_neither(text: str) -> None:
    assert value("yesno", text) is None


@given(st.lists(st.sampled_from(["yes", "yeah", "sure", "of course", "please"]), min_size=1))
def test_what_is_said_again_is_no_less_true(words: list[str]) -> None:
    said = [word for word in words if word != "please"]
    assert value("yesno", ", ".join(words)[:250]) in ({True, None} if said else {None})


@pytest.mark.parametrize("given_value", [True, False])
def test_a_parsed_bool_is_taken(given_value: bool) -> None:
    assert take_value("yesno", "yesno", given_value, BERLIN) == Understood(given_value)


@pytest.mark.parametrize(("kind", "given_value"), [("number", 1), ("raw_string", "yes"), (None, 1)])
def test_other_parsed_values_are_neither(kind: str | None, given_value: object) -> None:
    assert isinstance(take_value("yesno", kind, given_value, BERLIN), NotUnderstood)
