"""The HTML pages behind link messages."""

from __future__ import annotations

from typing import Annotated, Final, TypeAlias
from urllib.parse import quote

import msgspec
from msgspec import Meta

from prolocutor.contracts.http import HttpResponse
from prolocutor.errors import BadInput
from prolocutor.plugins.almond.door.apps import AppEndpoints
from prolocutor.plugins.almond.door.devices import AlmondDevice, DeviceEndpoints
from prolocutor.plugins.almond.door.pages import (
    button,
    form,
    page,
    paragraph,
    read_factory,
    read_field,
    read_form,
    text,
)
from prolocutor.plugins.almond.door.speakers import Speaker, UserQuery, find_speaker
from prolocutor.web.error_table import error_response
from prolocutor.web.operations import TypedRequest

MAX_NAME: Final = 200
FORM: Final = "application/x-www-form-urlencoded"


ContentType: TypeAlias = Annotated[str | None, Meta(extra={"in": "header"})]


class StopForm(UserQuery, frozen=True, kw_only=True):
    """The parameters of the form for stopping a program."""

    content_type: ContentType = msgspec.field(default=None, name="Content-Type")


class DevicePath(UserQuery, frozen=True, kw_only=True):
    """The parameters of a page about a device."""

    kind: str
    name: Annotated[str | None, Meta(description="What to call it.")] = None


class DeviceForm(DevicePath, frozen=True, kw_only=True):
    """The parameters of the form of a device."""

    controls: Annotated[str | None, Meta(description="The device factory, as JSON.")] = None


class FilledForm(DeviceForm, frozen=True, kw_only=True):
    """The parameters of the form of a device, filled in."""

    content_type: ContentType = msgspec.field(default=None, name="Content-Type")


class LinkPages:
    """Shows pages about registration, running programs and the set-up of devices."""

    def __init__(self, devices: DeviceEndpoints, apps: AppEndpoints) -> None:
        self._devices = devices
        self._apps = apps

    async def register_page(self, _: TypedRequest[None, None]) -> HttpResponse:
        """Show how to become known here."""
        return page(
            "Register",
            paragraph(
                "This needs a token. The operator of this assistant gives out tokens (auth.tokens"
                " in its file); with one of them you are known, and what you set up is kept for"
                " you."
            ),
        )

    async def conversation_page(self, _: TypedRequest[None, None]) -> HttpResponse:
        """Send to the chat page, as the address of Almond's server does."""
        return HttpResponse(b"", 302, "text/html; charset=utf-8", {"Location": "/"})

    async def create_page(self, request: TypedRequest[UserQuery, None]) -> HttpResponse:
        """Show the devices that can be set up."""
        speaker = find_speaker(request.visitor, user=request.params.user)
        kinds = {device.kind: device for device in await self._devices.load_devices(speaker)}
        return page(
            "Set up a device",
            _list_html([(kind.name, kind.description, _set_up(kind)) for kind in kinds.values()]),
        )

    async def apps_page(self, request: TypedRequest[UserQuery, None]) -> HttpResponse:
        """Show a person's devices and running programs, which can be stopped."""
        return await self._apps_page(find_speaker(request.visitor, user=request.params.user))

    async def stop_app(self, request: TypedRequest[StopForm, bytes]) -> HttpResponse:
        """Stop the program with the posted `id`, and show the page again."""
        _check_form(request.params.content_type)
        speaker = find_speaker(request.visitor, user=request.params.user)
        await self._apps.stop(speaker.user, read_field(request.body, "id"))
        return await self._apps_page(speaker)

    async def _apps_page(self, speaker: Speaker) -> HttpResponse:
        devices = await self._devices.load_devices(speaker)
        running = await self._apps.load_apps(speaker.user)
        return page(
            "My Almond",
            "<h2>Skills and devices</h2>",
            _list_html([(device.name, device.description, "") for device in devices]),
            "<h2>Running programs</h2>",
            _list_html(
                [(app.name, app.code, button("id", app.unique_id, "Stop")) for app in running]
            ),
        )

    async def oauth2_page(self, request: TypedRequest[DevicePath, None]) -> HttpResponse:
        """Show how an account would be connected."""
        name = _name(request.params)
        kind = quote(request.params.kind, safe="")
        where = f"/devices/configure/{kind}?name={quote(name)}"
        return page(
            f"Connect {name}",
            paragraph(
                f"This assistant has no account of its own with {name}, so you cannot sign in there"
                " from here. You can add it without an account."
            ),
            f'<p><a href="{text(where)}">Add it</a></p>',
        )

    async def configure_page(self, request: TypedRequest[DeviceForm, None]) -> HttpResponse:
        """Show the form to set up a device."""
        name = _name(request.params)
        try:
            factory = read_factory(request.params.controls)
        except BadInput as error:
            return _refusal_page(name, error)
        return page(
            f"Set up {name}",
            paragraph(factory.text) if factory.text else "",
            form(factory, f"Add {name}"),
        )

    async def configure(self, request: TypedRequest[FilledForm, bytes]) -> HttpResponse:
        """Set up a device by the form, filled in."""
        params, name = request.params, _name(request.params)
        try:
            _check_form(params.content_type)
            given = read_form(request.body, read_factory(params.controls))
            speaker = find_speaker(request.visitor, user=params.user)
            values = {**given, "name": given.get("name", name)}
            await self._devices.add(speaker, params.kind, values)
        except BadInput as error:
            return _refusal_page(name, error)
        return page(f"{name} is set up", paragraph("You can close this page."))


def _set_up(device: AlmondDevice) -> str:
    where = f"/devices/configure/{quote(device.kind, safe='')}?name={quote(device.name)}"
    return f'<a href="{text(where)}">Set up</a>'


def _name(params: DevicePath) -> str:
    return (params.name or params.kind)[:MAX_NAME]


def _check_form(content_type: str | None) -> None:
    if not (content_type or "").lower().startswith(FORM):
        raise BadInput(f"Content-Type should be {FORM}", field="Content-Type")


def _refusal_page(name: str, error: BadInput) -> HttpResponse:
    refusal = error_response(error)
    return page(f"{name} cannot be set up", paragraph(f"{refusal.error}."), status=refusal.status)


def _list_html(rows: list[tuple[str, str, str]]) -> str:
    """Return a list of names with their descriptions; the third part is trusted HTML."""
    if not rows:
        return paragraph("None.")
    items = "".join(
        f"<li>{text(name)}<small>{text(about)}</small>{beside}</li>" for name, about, beside in rows
    )
    return f"<ul>{items}</ul>"
