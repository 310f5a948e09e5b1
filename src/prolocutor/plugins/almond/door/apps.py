"""The apps API: a person's running programs, listed, started and stopped."""

from __future__ import annotations

from typing import Annotated, Final, Literal

import msgspec
from msgspec import Meta

from prolocutor.assistant.assistant import Assistant
from prolocutor.contracts.http import HttpResponse, Visitor
from prolocutor.contracts.programs import ProgramInfo, StatementResult
from prolocutor.errors import BadInput, NotFound
from prolocutor.plugins.almond.door.speakers import UserQuery, find_speaker
from prolocutor.web.operations import TypedRequest
from prolocutor.web.requests import json_response

_NO_CODE: Final = "code is needed, the text of a program"


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


class AppPath(UserQuery, frozen=True, kw_only=True):
    """The parameters of a request about a program."""

    id: str


class NewApp(msgspec.Struct, frozen=True):
    """A program to start."""

    code: Annotated[str, Meta(extra={"error": _NO_CODE})]
    name: str | None = None
    description: str | None = None
    icon: str | None = None


class CreatedApp(msgspec.Struct, frozen=True, rename="camel"):
    """A started program, and its results so far."""

    unique_id: str
    description: str
    code: str
    icon: str | None
    results: list[StatementResult]
    errors: list[str]


class RefusedApp(CreatedApp, frozen=True, rename="camel", kw_only=True):
    """A program that could not be started; `code` is the error's code."""

    error: str
    field: str


class DeletedApp(msgspec.Struct, frozen=True):
    """A program was stopped."""

    status: Literal["ok"] = "ok"


class AppEndpoints:
    """Lists, starts and stops the running programs of a person."""

    def __init__(self, assistant: Assistant) -> None:
        self._assistant = assistant

    async def load_apps(self, user: str) -> list[AlmondApp]:
        """Return the running programs of a person."""
        return [
            AlmondApp(app.id, app.name, app.description, app.error, app.code, app.icon)
            for app in await self._assistant.programs.apps(user)
        ]

    async def stop(self, user: str, program_id: str) -> bool:
        """Stop a program for good; False if its id is unknown."""
        return await self._assistant.programs.delete(user, program_id)

    async def list_apps(self, request: TypedRequest[UserQuery, None]) -> list[AlmondApp]:
        """Return a person's running programs."""
        return await self.load_apps(_user(request.visitor, request.params))

    async def get_app(self, request: TypedRequest[AppPath, None]) -> AlmondApp:
        """Return a running program."""
        id_ = request.params.id
        for app in await self.load_apps(_user(request.visitor, request.params)):
            if app.unique_id == id_:
                return app
        raise _not_found(id_)

    async def delete_app(self, request: TypedRequest[AppPath, None]) -> DeletedApp:
        """Stop a program for good."""
        id_ = request.params.id
        if not await self.stop(_user(request.visitor, request.params), id_):
            raise _not_found(id_)
        return DeletedApp()

    async def create_app(
        self, request: TypedRequest[UserQuery, NewApp]
    ) -> CreatedApp | HttpResponse:
        """Start a program; a 400 has the program's errors."""
        user, body = _user(request.visitor, request.params), request.body
        if not body.code.strip():
            raise BadInput(_NO_CODE, field="code")
        info = ProgramInfo(name=body.name, description=body.description, icon=body.icon)
        created = await self._assistant.agenda.start_program(user, body.code, info)
        app = CreatedApp(
            created.id,
            created.description,
            created.code,
            created.icon,
            created.results,
            created.errors,
        )
        if not created.errors:
            return app
        refused = msgspec.structs.asdict(app) | {"code": "bad_input"}
        return json_response(RefusedApp(**refused, error=created.errors[0], field="code"), 400)


def _user(visitor: Visitor, params: UserQuery) -> str:
    return find_speaker(visitor, user=params.user).user


def _not_found(id_: str) -> NotFound:
    return NotFound(f"there is no running program {id_!r:.80}", field="id")
