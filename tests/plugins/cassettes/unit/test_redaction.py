"""What a cassette shows in place of secrets, ids and times."""

import pytest

from prolocutor.plugins.cassettes.redaction import SECRET, Mask, Names, Redaction

KEY = "sk-" + "a1B2c3D4e5F6g7H8i9"


@pytest.mark.parametrize(
    "value",
    [
        {"api_key": "whatever"},
        {"Authorization": "Bearer abcdefgh12345"},
        {"headers": {"X-Auth-Token": "whatever"}},
        {"password": "whatever"},
        {"secret": {"value": "whatever"}},
        {"url": "https://ann:whatever@example.org/"},
        {"url": "https://example.org/?api_key=whatever&n=1"},
        {"text": f"my key is {KEY}"},
        {"text": "the value is whatever, you know"},
    ],
)
def test_no_secret_is_shown_by_name_form_or_value(value: object) -> None:
    redaction = Redaction({"WEATHER_API_KEY": "whatever"})

    shown = str(redaction.value(value))

    assert "whatever" not in shown
    assert "abcdefgh12345" not in shown
    assert KEY not in shown
    assert SECRET in shown


@pytest.mark.parametrize(
    "value",
    [
        {"max_tokens": 100},
        {"text": "a token of love, the key to the door"},
        {"monkey": "banana"},
        {"tokens": 7, "usage": {"total_tokens": 9}},
        {"url": "https://example.org/path?n=1"},
    ],
)
def test_what_is_no_secret_stays(value: object) -> None:
    assert Redaction({}).value(value) == value


def test_an_answer_to_an_ask_for_a_password_is_a_secret_from_then_on() -> None:
    redaction = Redaction({})

    redaction.answers({"answer": {"kind": "password", "value": "open sesame", "raw": ""}})

    assert redaction.value({"text": "You said open sesame."}) == {"text": f"You said {SECRET}."}


def test_known_ids_have_names_and_others_are_all_one() -> None:
    names = Names()
    names.know("0" * 31 + "1", "reply 1")
    mask = Mask(Redaction({}), names)

    masked = mask.request(
        b'{"a": "%b", "b": "%b", "at": "2026-11-23 22:00:00.123456"}'
        % (b"0" * 31 + b"1", b"0" * 31 + b"2")
    )

    assert masked == {"a": "<reply 1>", "b": "<id>", "at": "<time>"}


def test_a_reply_keeps_the_ids_that_have_no_name() -> None:
    names = Names()
    names.know("0" * 31 + "1", "reply 1")

    masked = Mask(Redaction({}), names).reply({"a": "0" * 31 + "1", "b": "0" * 31 + "2"})

    assert masked == {"a": "<reply 1>", "b": "0" * 31 + "2"}
