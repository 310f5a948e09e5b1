"""The apps API: a person's running programs, listed, started and stopped."""

from __future__ import annotations

import msgspec

from prolocutor.almond.door.commands import optional_text
from prolocutor.almond.door.speakers import speaker_of
from prolocutor.assistant.assistant import Assistant
from prolocutor.contracts.http import HttpRequest, HttpResponse
from prolocutor.contracts.programs import ProgramInfo
from prolocutor.errors import BadInput, NotFound
from prolocutor.web.requests import json_object, json_response


class AlmondApp(msgspec.Struct, frozen=True, rename="camel"):
    """A running program as Almond's clients list it."""

    unique_id: str
    name: str
    description: str
    error: str | None
    code: str
    icon: str | None
    is_enabled: bool = True
    is_running: bool = True


class AppEndpoints:
    """Lists, starts and stops the running programs of a person."""

    def __init__(self, assistant: Assistant) -> None:
        self._assistant = assistant

    async def of(self, user: str) -> list[AlmondApp]:
        """Return the running programs of a person."""
        return [
            AlmondApp(one.id, one.name, one.description, one.error, one.code, one.icon)
            for one in await self._assistant.programs.apps(user)
        ]

    async def stop(self, user: str, program_id: str) -> bool:
        """Stop a program for good; False if there is none of this id."""
        return await self._assistant.programs.delete(user, program_id)

    async def show(self, request: HttpRequest) -> HttpResponse:
        """Answer `GET /api/apps/list`."""
        return json_response(msgspec.to_builtins(await self.of(_user(request))))

    async def get(self, request: HttpRequest) -> HttpResponse:
        """Answer `GET /api/apps/get/{id}`."""
        id_ = request.params["id"]
        for app in await self.of(_user(request)):
            if app.unique_id == id_:
                return json_response(msgspec.to_builtins(app))
        raise _unknown(id_)

    async def delete(self, request: HttpRequest) -> HttpResponse:
        """Answer `POST /api/apps/delete/{id}`."""
        id_ = request.params["id"]
        if not await self.stop(_user(request), id_):
            raise _unknown(id_)
        return json_response({"status": "ok"})

    async def create(self, request: HttpRequest) -> HttpResponse:
        """Answer `POST /api/apps/create`: 400 with the errors where the program has some."""
        user, body = _user(request), await json_object(request)
        code = body.get("code")
        if not isinstance(code, str) or not code.strip():
            raise BadInput("code is needed, the text of a program", field="code")
        name, description, icon = (
            optional_text(body, key) for key in ("name", "description", "icon")
        )
        info = ProgramInfo(name=name, description=description, icon=icon)
        created = await self._assistant.start_program(user, code, info)
        report = {
            "uniqueId": created.id,
            "description": created.description,
            "code": created.code,
            "icon": created.icon,
            "results": msgspec.to_builtins(created.results),
            "errors": created.errors,
        }
        if created.errors:
            error = {"error": created.errors[0], "code": "bad_input", "field": "code"}
            return json_response({**report, **error}, 400)
        return json_response(report)


def _user(request: HttpRequest) -> str:
    return speaker_of(request.visitor, user=request.query("user")).user


def _unknown(id_: str) -> NotFound:
    return NotFound(f"there is no running program {id_!r:.80}", field="id")
