"""The HTML pages that link messages lead to."""

from __future__ import annotations

from typing import Final
from urllib.parse import quote

from prolocutor.almond.door.apps import AppEndpoints
from prolocutor.almond.door.devices import DeviceEndpoints
from prolocutor.almond.door.pages import (
    button,
    form,
    page,
    paragraph,
    read_factory,
    read_field,
    read_form,
    text,
)
from prolocutor.almond.door.speakers import speaker_of
from prolocutor.contracts.http import HttpRequest, HttpResponse
from prolocutor.errors import BadInput
from prolocutor.web.error_table import error_response

MAX_NAME: Final = 200
FORM: Final = "application/x-www-form-urlencoded"


class LinkPages:
    """Shows pages about registration, running programs and the set-up of devices."""

    def __init__(self, devices: DeviceEndpoints, apps: AppEndpoints) -> None:
        self._devices = devices
        self._apps = apps

    async def register(self, _: HttpRequest) -> HttpResponse:
        """Answer `GET /user/register`."""
        return page(
            "Register",
            paragraph(
                "This needs a token. The operator of this assistant gives out tokens (auth.tokens"
                " in its file); with one of them you are known, and what you set up is kept for"
                " you."
            ),
        )

    async def apps(self, request: HttpRequest) -> HttpResponse:
        """Answer `GET /apps`: a person's devices and running programs, which can be stopped."""
        speaker = speaker_of(request.visitor, user=request.query("user"))
        devices = await self._devices.of(speaker)
        running = await self._apps.of(speaker.user)
        return page(
            "My Almond",
            "<h2>Skills and devices</h2>",
            _listed([(device["name"], device["description"], "") for device in devices]),
            "<h2>Running programs</h2>",
            _listed([(app.name, app.code, button("id", app.unique_id, "Stop")) for app in running]),
        )

    async def stopped(self, request: HttpRequest) -> HttpResponse:
        """Answer `POST /apps`: stop the program whose button was pressed."""
        _check_form(request)
        speaker = speaker_of(request.visitor, user=request.query("user"))
        await self._apps.stop(speaker.user, read_field(await request.body(), "id"))
        return await self.apps(request)

    async def oauth2(self, request: HttpRequest) -> HttpResponse:
        """Answer `GET /devices/oauth2/{kind}?name=`."""
        name = _name(request)
        where = f"/devices/configure/{quote(request.params['kind'], safe='')}?name={quote(name)}"
        return page(
            f"Connect {name}",
            paragraph(
                f"This assistant has no account of its own with {name}, so you cannot sign in there"
                " from here. You can add it without an account."
            ),
            f'<p><a href="{text(where)}">Add it</a></p>',
        )

    async def configure(self, request: HttpRequest) -> HttpResponse:
        """Answer `GET /devices/configure/{kind}?name=&controls=`: the form that is described."""
        name = _name(request)
        try:
            factory = read_factory(request.query("controls"))
        except BadInput as error:
            return _refused(name, error)
        return page(
            f"Set up {name}",
            paragraph(factory.text) if factory.text else "",
            form(factory, f"Add {name}"),
        )

    async def configured(self, request: HttpRequest) -> HttpResponse:
        """Answer `POST /devices/configure/{kind}`: the form, filled in."""
        name = _name(request)
        try:
            _check_form(request)
            given = read_form(await request.body(), read_factory(request.query("controls")))
            speaker = speaker_of(request.visitor, user=request.query("user"))
            await self._devices.add(
                speaker, {**given, "kind": request.params["kind"], "name": given.get("name", name)}
            )
        except BadInput as error:
            return _refused(name, error)
        return page(f"{name} is set up", paragraph("You can close this page."))


def _name(request: HttpRequest) -> str:
    return (request.query("name") or request.params["kind"])[:MAX_NAME]


def _check_form(request: HttpRequest) -> None:
    kind = request.header("content-type") or ""
    if not kind.lower().startswith(FORM):
        raise BadInput(f"Content-Type should be {FORM}", field="Content-Type")


def _refused(name: str, error: BadInput) -> HttpResponse:
    refusal = error_response(error)
    return page(f"{name} cannot be set up", paragraph(f"{refusal.error}."), status=refusal.status)


def _listed(rows: list[tuple[str, str, str]]) -> str:
    """Return a list of names with their descriptions; the third part is HTML of our own."""
    if not rows:
        return paragraph("None.")
    items = "".join(
        f"<li>{text(name)}<small>{text(about)}</small>{beside}</li>" for name, about, beside in rows
    )
    return f"<ul>{items}</ul>"
