"""People: operators delete a person with all of the person's data."""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import Meta

from prolocutor.assistant.assistant import Assistant
from prolocutor.contracts.channel import Route
from prolocutor.errors import NotFound
from prolocutor.plugins.console.resources import BASE
from prolocutor.web.operations import OperatorWrite, TypedRequest


class ConsolePerson(msgspec.Struct, frozen=True):
    """The parameters of a request about a person, by their name at the assistant."""

    user: Annotated[str, Meta(min_length=1)]


class PeopleEndpoints:
    """Deletes people."""

    def __init__(self, assistant: Assistant) -> None:
        self._assistant = assistant
        delete = OperatorWrite(self.delete_someone, status=204, errors=[NotFound])
        self.routes = [Route("DELETE", f"{BASE}/people/{{user:path}}", delete, "operators")]

    async def delete_someone(self, request: TypedRequest[ConsolePerson, None]) -> None:
        """Delete a person with all of the person's data."""
        user = request.params.user
        if not await self._assistant.archive.delete_person(user):
            raise NotFound(f"nobody is called {user!s:.80}", field="user")
