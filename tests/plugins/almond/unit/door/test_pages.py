"""The forms by which devices are set up."""

import json
from typing import Any

import pytest

from prolocutor.errors import BadInput
from prolocutor.plugins.almond.door.pages import (
    Factory,
    Field,
    form,
    page,
    paragraph,
    read_factory,
    read_form,
)

HOSTILE = '"><script>alert(1)</script>'


def factory(*fields: Any, **more: Any) -> str:
    return json.dumps({"type": "form", "fields": list(fields), **more})


def test_a_factory_names_its_fields() -> None:
    read = read_factory(
        factory({"name": "url", "label": "The feed", "type": "url"}, {"name": "n"}, text="An RSS.")
    )

    assert read == Factory([Field("url", "The feed", "url"), Field("n", "n")], "An RSS.")


@pytest.mark.parametrize("controls", [None, "", "{}", '{"type":"none"}'])
def test_a_factory_may_ask_for_nothing(controls: str | None) -> None:
    assert read_factory(controls) == Factory()


@pytest.mark.parametrize(
    "controls",
    [
        "[" * 2000,
        "{",
        "[]",
        '{"type":"oauth2"}',
        '{"type":"form","fields":5}',
        factory(5),
        factory({"name": HOSTILE}),
        factory({"name": "kind"}),
        factory(*[{"name": "n"}] * 51),
    ],
)
def test_an_invalid_factory_is_refused(controls: str) -> None:
    with pytest.raises(BadInput):
        read_factory(controls)


def test_an_unknown_type_of_field_is_a_text() -> None:
    assert read_factory(factory({"name": "n", "type": "file"})).fields[0].type == "text"


def test_nothing_foreign_is_ever_html() -> None:
    drawn = page(
        HOSTILE, paragraph(HOSTILE), form(Factory([Field("n", HOSTILE)], HOSTILE), HOSTILE)
    )

    assert isinstance(drawn.body, bytes)
    assert b"<script" not in drawn.body
    assert "script-src" not in drawn.headers["Content-Security-Policy"]
    assert "default-src 'none'" in drawn.headers["Content-Security-Policy"]


def test_only_known_fields_of_a_form_are_read() -> None:
    asked = Factory([Field("url", "The feed")])

    assert read_form(b"url=https%3A%2F%2Fa.org&kind=evil", asked) == {"url": "https://a.org"}


@pytest.mark.parametrize("body", [b"", b"url=", b"\xff", b"&".join([b"a=1"] * 60)])
def test_a_form_that_lacks_something_is_refused(body: bytes) -> None:
    with pytest.raises(BadInput):
        read_form(body, Factory([Field("url", "The feed")]))
