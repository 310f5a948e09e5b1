"""What an agent is asked, out of a request."""

from prolocutor.plugins.a2a.connector.asking import read_question


def test_an_object_that_is_no_form_of_a_message_is_a_data_part() -> None:
    assert read_question({"key": "turn/bank"}, "bank").data == {"key": "turn/bank"}


def test_an_effect_is_named_in_the_metadata_and_its_fields_replace_the_data() -> None:
    asked = read_question(
        {"text": "pay", "parts": [{"data": {"amount": 20}}, {"data": {"to": "Bob"}}]}, "bank"
    )

    asked.take_effect("turn/bank", {"amount": 15, "to": "Bob"})

    assert asked.data == {"amount": 15, "to": "Bob"}
    message = asked.message("turn/bank")
    assert message.message_id == "turn/bank"
    assert message.metadata == {"idempotencyKey": "turn/bank"}
