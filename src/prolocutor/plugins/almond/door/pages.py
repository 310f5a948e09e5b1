"""Small HTML pages and forms without scripts."""

from __future__ import annotations

import base64
import hashlib
import re
from html import escape
from typing import Any, Final
from urllib.parse import parse_qsl

import msgspec

from prolocutor.contracts.http import HttpResponse
from prolocutor.dialog import plain
from prolocutor.errors import BadInput

STYLE: Final = (
    ":root{color-scheme:light dark}"
    "body{font:1rem/1.5 system-ui,sans-serif;max-width:36rem;margin:3rem auto;padding:0 1rem}"
    "label{display:block;margin:1rem 0 .25rem}"
    "input{font:inherit;width:100%;box-sizing:border-box;padding:.4rem}"
    "button{font:inherit;margin-top:1.5rem;padding:.4rem 1.2rem}"
    "small{display:block;opacity:.75}"
)
_HASH: Final = base64.b64encode(hashlib.sha256(STYLE.encode()).digest()).decode()

_POLICY: Final = (
    f"default-src 'none'; style-src 'sha256-{_HASH}'; img-src 'self'; base-uri 'none'; "
    "frame-ancestors 'none'; form-action 'self'"
)
_HEADERS: Final = {
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-store",
}

MOST_FIELDS: Final = 50

_NAME: Final = re.compile(r"[A-Za-z_][\w.-]{0,63}", re.ASCII)
_TYPES: Final = frozenset({"text", "password", "number", "email", "url", "tel"})
_RESERVED: Final = frozenset({"kind"})


def page(title: str, *parts: str, status: int = 200, leads_to: str = "") -> HttpResponse:
    """Return a page; `title` is text, `parts` are HTML with foreign text escaped.

    `leads_to` is a further source of the content policy for the page's forms.
    """
    headers = {"Content-Security-Policy": f"{_POLICY} {leads_to}".rstrip(), **_HEADERS}
    shown = text(title)
    body = (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8">'
        f'<meta name="viewport" content="width=device-width"><title>{shown}</title>'
        f"<style>{STYLE}</style></head><body><main><h1>{shown}</h1>{''.join(parts)}"
        f'<p><a href="/">Back to the conversation</a></p></main></body></html>'
    )
    return HttpResponse(body.encode(), status, "text/html; charset=utf-8", headers)


def text(value: str) -> str:
    """Escape a text for HTML, also within a quoted attribute."""
    return escape(value.encode("utf-8", "replace").decode())


def paragraph(value: str) -> str:
    """Return a paragraph of text."""
    return f"<p>{text(value)}</p>"


class Field(msgspec.Struct, frozen=True):
    """A field of a form; `type` is an HTML input's."""

    name: str
    label: str
    type: str = "text"


class Factory(msgspec.Struct, frozen=True):
    """The form for a device: its fields, and a text above them."""

    fields: list[Field] = []
    text: str = ""


def read_factory(controls: str | None) -> Factory:
    """Read a device factory of Thingpedia: `{type: "form", fields}`, or a factory without fields.

    Raise `BadInput` for anything else.
    """
    if not controls:
        return Factory()
    try:
        given = plain.decode(controls)
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        raise BadInput(f"controls is not JSON: {error}", field="controls") from None
    if not isinstance(given, dict):
        raise BadInput("controls should be an object, {type, fields}", field="controls")
    kind = given.get("type")
    if kind not in ("form", "none", None):
        what = f"a device of type {kind!r:.80} is not set up by a form"
        raise BadInput(what, field="controls.type")
    fields = given.get("fields") or given.get("params") or []
    if not isinstance(fields, list) or len(fields) > MOST_FIELDS:
        raise BadInput(f"fields is a list of at most {MOST_FIELDS}", field="controls.fields")
    about = given.get("text")
    return Factory(
        [_field(field, position) for position, field in enumerate(fields)],
        about if isinstance(about, str) else "",
    )


def form(factory: Factory, submit: str) -> str:
    """Return a form that is posted to its own address."""
    inputs = "".join(
        f'<label for="{text(field.name)}">{text(field.label)}</label>'
        f'<input id="{text(field.name)}" name="{text(field.name)}" type="{field.type}" required>'
        for field in factory.fields
    )
    return f'<form method="post">{inputs}<button type="submit">{text(submit)}</button></form>'


def button(name: str, value: str, title: str) -> str:
    """Return a button to post a value to its own address."""
    return (
        f'<form method="post"><button name="{text(name)}" value="{text(value)}">{text(title)}'
        "</button></form>"
    )


def read_field(body: bytes, name: str) -> str:
    """Read the value of a pressed button; "" if another button was pressed."""
    return _read_fields(body).get(name, "")


def read_form(body: bytes, factory: Factory) -> dict[str, Any]:
    """Read a filled-in form; raise `BadInput` for a missing field, ignore unknown fields."""
    fields = _read_fields(body)
    for field in factory.fields:
        if not fields.get(field.name):
            raise BadInput(f"{field.label} is missing", field=field.name)
    return {field.name: fields[field.name] for field in factory.fields}


def _read_fields(body: bytes) -> dict[str, str]:
    try:
        return dict(parse_qsl(body.decode(), keep_blank_values=True, max_num_fields=MOST_FIELDS))
    except ValueError:
        raise BadInput("this is not a filled-in form") from None


def _field(given: Any, position: int) -> Field:
    path = f"controls.fields[{position}]"
    if not isinstance(given, dict):
        raise BadInput("a field is an object, {name, label, type}", field=path)
    name, label, kind = given.get("name"), given.get("label"), given.get("type")
    if not isinstance(name, str) or not _NAME.fullmatch(name) or name in _RESERVED:
        raise BadInput("a field's name is one word of letters and digits", field=f"{path}.name")
    return Field(
        name,
        label if isinstance(label, str) and label else name,
        kind if isinstance(kind, str) and kind in _TYPES else "text",
    )
