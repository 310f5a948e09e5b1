"""The models of the door: the assistant under its name, and each skill as `NAME/SKILL`."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Annotated, Any, Final, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType

from prolocutor.assistant.assistant import Assistant
from prolocutor.contracts.http import HttpResponse
from prolocutor.dialog import plain
from prolocutor.errors import NotFound
from prolocutor.names import did_you_mean
from prolocutor.web.error_table import ErrorResponse, error_response
from prolocutor.web.operations import TypedRequest

_CODES: Final = {
    "unauthenticated": "invalid_api_key",
    "overloaded": "rate_limit_exceeded",
    "quota_exceeded": "rate_limit_exceeded",
    "bad_input": None,
}
"""OpenAI's codes where they differ; every other code is ours."""

_TYPES: Final = {401: "authentication_error", 403: "permission_error", 429: "rate_limit_error"}


class UnknownModel(NotFound):
    """There is no model of this name."""

    code = "model_not_found"


class ApiError(msgspec.Struct, frozen=True):
    """The reason for the refusal of a request."""

    message: str
    type: str
    param: str | None
    code: str | None


class ApiErrorBody(msgspec.Struct, frozen=True):
    """An error in the form of OpenAI's API."""

    error: ApiError


def write_error(error: Exception) -> HttpResponse:
    """Return the response to an error."""
    refused = error_response(error)
    return HttpResponse(
        plain.encode(ApiErrorBody(error_object(refused))),
        refused.status,
        headers=refused.headers,
    )


def error_object(refused: ErrorResponse) -> ApiError:
    """Return the object for an error."""
    by_status = "server_error" if refused.status >= 500 else "invalid_request_error"
    return ApiError(
        message=refused.error,
        type=_TYPES.get(refused.status, by_status),
        param=refused.field,
        code=_CODES.get(refused.code, refused.code),
    )


class OfferedModel(msgspec.Struct, kw_only=True):
    """A model: the assistant, or a single skill."""

    id: str
    created: int
    description: Annotated[str | UnsetType, Meta(description="What its card says.")] = UNSET
    object: Literal["model"] = "model"
    owned_by: str = "prolocutor"


class ModelList(msgspec.Struct, kw_only=True):
    """All models."""

    data: Sequence[OfferedModel]
    object: Literal["list"] = "list"


class ModelPath(msgspec.Struct, frozen=True):
    """The parameters of a request for a model."""

    model: str


class ChatModels:
    """The models of an assistant."""

    def __init__(self, assistant: Assistant) -> None:
        self.name = assistant.name
        created = int(time.time())
        self._models = {self.name: OfferedModel(id=self.name, created=created)}
        for name, step in assistant.engine.prepared.skill_steps.items():
            id_, about = f"{self.name}/{name}", step.service.card_members.get("description")
            self._models[id_] = OfferedModel(id=id_, created=created, description=_text(about))

    async def list_models(self, _: TypedRequest[None, None]) -> ModelList:
        """List the models: the assistant, and its skills."""
        return ModelList(data=list(self._models.values()))

    async def show_model(self, request: TypedRequest[ModelPath, None]) -> OfferedModel:
        """Return a model."""
        self.find_skill(request.params.model)
        return self._models[request.params.model]

    def find_skill(self, model: str) -> str | None:
        """Return the skill of a model, None for the assistant; else raise `UnknownModel`."""
        if model == self.name:
            return None
        if model in self._models:
            return model.removeprefix(f"{self.name}/")
        close = did_you_mean(model, self._models)
        what = f"there is no model {model!r:.100}" + (f"; {close}" if close else "")
        raise UnknownModel(f"{what}. The models are: {', '.join(self._models)}", field="model")


def _text(value: Any) -> str | UnsetType:
    return value if isinstance(value, str) and value else UNSET
