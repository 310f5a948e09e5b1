"""Apps: a person's running programs, listed, started and stopped."""

from __future__ import annotations

from typing import Any

from prolocutor.almond.door.people import party_of
from prolocutor.assistant.assistant import Assistant
from prolocutor.contracts.channel import HttpRequest, HttpResponse
from prolocutor.errors import BadInput, NotFound
from prolocutor.web.requests import json_object, json_response

App = dict[str, Any]
"""`{uniqueId, name, description, error, code, icon, isEnabled, isRunning}`."""


class AppEndpoints:
    """Answers what Almond clients ask about running programs."""

    def __init__(self, assistant: Assistant) -> None:
        self._assistant = assistant

    async def of(self, user: str) -> list[App]:
        """Return the running programs of a person."""
        return await self._assistant.programs.apps(user)

    async def stop(self, user: str, unique_id: str) -> bool:
        """Stop a program for good; False if there is none of this id."""
        return await self._assistant.programs.delete(user, unique_id)

    async def show(self, request: HttpRequest) -> HttpResponse:
        """Answer `GET /api/apps/list`."""
        return json_response(await self.of(_user(request)))

    async def get(self, request: HttpRequest) -> HttpResponse:
        """Answer `GET /api/apps/get/{id}`."""
        id_ = request.params["id"]
        for app in await self.of(_user(request)):
            if app["uniqueId"] == id_:
                return json_response(app)
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
        about = {key: _text(body, key) for key in ("name", "description", "icon")}
        created = await self._assistant.start_program(user, code, about)
        errors = created.get("errors")
        if errors:
            refused = {**created, "error": str(errors[0]), "code": "bad_input", "field": "code"}
            return json_response(refused, 400)
        return json_response(created)


def _user(request: HttpRequest) -> str:
    return party_of(request.visitor, user=request.query("user")).user


def _text(body: dict[str, Any], key: str) -> str | None:
    value = body.get(key)
    if value is not None and not isinstance(value, str):
        raise BadInput(f"{key} should be a text", field=key)
    return value


def _unknown(id_: str) -> NotFound:
    return NotFound(f"there is no running program {id_!r:.80}", field="id")
