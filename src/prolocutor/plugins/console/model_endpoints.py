"""Endpoints of models: list, put live, delete."""

from __future__ import annotations

import msgspec

from prolocutor.contracts.channel import Route
from prolocutor.contracts.pairing import Role
from prolocutor.errors import Conflict, NotFound
from prolocutor.plugins.console.model_desk import ConsoleModel, ModelDesk, PutLive
from prolocutor.plugins.console.resources import BASE
from prolocutor.web.operations import EmptyBody, Operation, OperatorWrite, TypedRequest


class ConsoleModelPath(msgspec.Struct, frozen=True):
    """The parameters of a request about a model."""

    id: str


class ConsoleModelList(msgspec.Struct, frozen=True):
    """The models, first the models in use; `roles` are the trainable roles.

    `problems` are the faults of learning. `idle` are the roles without anything to learn yet, and
    `thumbs` is the number of thumbs that the next training learns beside the labels.
    """

    items: list[ConsoleModel]
    roles: list[Role]
    problems: list[str] = []
    idle: list[Role] = []
    thumbs: int = 0


class ModelEndpoints:
    """Shows models and puts them in use."""

    def __init__(self, desk: ModelDesk) -> None:
        self._desk = desk
        errors = (NotFound, Conflict)
        one = f"{BASE}/models/{{id}}"
        live = OperatorWrite(self.put_live, errors=errors)
        delete = OperatorWrite(self.delete_model, status=204, errors=errors)
        self.routes = [
            Route("GET", f"{BASE}/models", Operation(self.list_models), "operators"),
            Route("POST", f"{one}/live", live, "operators"),
            Route("DELETE", one, delete, "operators"),
        ]

    async def list_models(self, request: TypedRequest[None, None]) -> ConsoleModelList:
        """List the models of routers and rankers in folders."""
        desk = self._desk
        thumbs = await desk.count_thumbs()
        return ConsoleModelList(
            await desk.list_models(),
            desk.roles,
            desk.problems,
            await desk.idle_roles(),
            max(thumbs.values(), default=0),
        )

    async def put_live(self, request: TypedRequest[ConsoleModelPath, EmptyBody]) -> PutLive:
        """Replace the model in use, which stays on the list."""
        return await self._desk.put_live(request.params.id, request.visitor.name)

    async def delete_model(self, request: TypedRequest[ConsoleModelPath, None]) -> None:
        """Delete an unused model."""
        await self._desk.delete(request.params.id)
