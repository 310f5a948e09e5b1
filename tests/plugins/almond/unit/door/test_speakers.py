"""Who speaks through the Almond door, and in which dialog."""

import re

import pytest

from prolocutor.contracts.http import Visitor
from prolocutor.errors import BadInput, Forbidden
from prolocutor.plugins.almond.door.converse import ConverseRequest
from prolocutor.plugins.almond.door.speakers import anonymous_speaker, find_speaker
from prolocutor.web.authentication import ANONYMOUS, OPERATOR
from prolocutor.web.operations import JsonReader

ANN = Visitor("person", "ann")


def test_who_sits_at_the_machine_is_local() -> None:
    party = find_speaker(OPERATOR)

    assert party.user == "almond:local"
    assert party.dialog == "main"
    assert party.conversation == "main"


def test_an_operator_speaks_for_whom_they_name() -> None:
    assert find_speaker(OPERATOR, user="bob").user == "almond:bob"


def test_a_person_is_the_one_of_the_token() -> None:
    assert find_speaker(ANN).user == find_speaker(ANN, user="ann").user == "almond:ann"
    with pytest.raises(Forbidden):
        find_speaker(ANN, user="bob")


def test_an_id_names_one_dialog_of_a_person() -> None:
    party = find_speaker(ANN, conversation="kitchen", fresh="stateless")

    assert party.dialog == "kitchen"
    assert party.conversation == "kitchen"


def test_each_new_conversation_is_a_dialog_of_its_own() -> None:
    one, other = (find_speaker(ANN, fresh="stateless") for _ in range(2))

    assert re.fullmatch(r"stateless-[0-9a-f]{32}", one.conversation)
    assert one.dialog == one.conversation != other.dialog


def test_anonymous_people_are_apart_from_each_other() -> None:
    one, other = find_speaker(ANONYMOUS), find_speaker(ANONYMOUS)

    assert one.user != other.user
    assert one.anonymous


def test_an_anonymous_person_goes_on_by_the_id_of_the_conversation() -> None:
    one = find_speaker(ANONYMOUS, fresh="stateless")

    assert find_speaker(ANONYMOUS, conversation=one.conversation) == one


@pytest.mark.parametrize("guess", ["main", "web-1", "web-" + "g" * 32, "almond:local"])
def test_a_guessed_id_is_somebody_new(guess: str) -> None:
    party = anonymous_speaker(guess)

    assert party.conversation != guess
    assert re.fullmatch(r"almond:anonymous-[0-9a-f]{32}", party.user)


def test_an_id_is_a_text_within_bounds() -> None:
    with pytest.raises(BadInput, match="a conversation's id is a text"):
        find_speaker(ANN, conversation="x" * 201)


@pytest.mark.parametrize("id_", ["5", "[]", f'"{"x" * 201}"'])
def test_an_id_in_a_body_is_a_text_within_bounds(id_: str) -> None:
    with pytest.raises(BadInput, match="a conversation's id is a text") as refused:
        JsonReader(ConverseRequest).read(f'{{"command": {{}}, "conversationId": {id_}}}')

    assert refused.value.field == "conversationId"


def test_a_users_name_has_bounds() -> None:
    with pytest.raises(BadInput, match="a user's name"):
        find_speaker(OPERATOR, user="x" * 201)


def test_a_chosen_id_belongs_to_who_has_the_secret_of_the_first_visit() -> None:
    first = find_speaker(ANONYMOUS, conversation="bridge-1")
    again = find_speaker(ANONYMOUS, conversation="bridge-1", secret=first.secret)
    guess = find_speaker(ANONYMOUS, conversation="bridge-1", secret="a guess of 16 letters")
    other = find_speaker(ANONYMOUS, conversation="bridge-2", secret=first.secret)

    assert first.conversation == "bridge-1"
    assert first.anonymous is True
    assert again == first
    assert len({first.user, guess.user, other.user, find_speaker(ANONYMOUS).user}) == 4
    with pytest.raises(BadInput, match="a secret has 16 to 200 characters"):
        find_speaker(ANONYMOUS, conversation="bridge-1", secret="short")
