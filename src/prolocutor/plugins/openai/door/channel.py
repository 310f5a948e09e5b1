"""OpenAi: the door for clients of OpenAI's API, at `/v1`.

Source: OpenAI's API reference for models, chat completions, responses and conversations. The
assistant is a model, and each skill is a model of its own.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Annotated, Any, ClassVar, Final

import msgspec
from msgspec import Meta

from prolocutor.assistant.assistant import Assistant
from prolocutor.contracts.channel import DoorPlace, ErrorForm, Method, Route
from prolocutor.errors import ConfigError, Conflict, NotFound
from prolocutor.names import suggest
from prolocutor.plugins.openai.door.answers import Answering
from prolocutor.plugins.openai.door.completions import ChatCompletion, Completions
from prolocutor.plugins.openai.door.conversation_endpoints import ConversationEndpoints
from prolocutor.plugins.openai.door.dialog_finder import PREFIX, DialogFinder
from prolocutor.plugins.openai.door.models import ApiErrorBody, ChatModels, write_error
from prolocutor.plugins.openai.door.responses import ResponseObject, Responses
from prolocutor.web.door_context import DoorContext
from prolocutor.web.operations import Operation, TypedRequest

Handler = Callable[[TypedRequest[Any, Any]], Awaitable[object]]


class OpenAiDoor(msgspec.Struct, frozen=True, kw_only=True):
    """OpenAI's API at `/v1`: chat completions, responses and conversations."""

    is_usual: ClassVar[bool] = True

    tasks: Annotated[
        str | None,
        Meta(
            description="The skill, a chat model, that writes the titles, tags and follow-ups that"
            " Open WebUI asks for; without one a rule does."
        ),
    ] = None

    def check(self, place: DoorPlace) -> None:
        """Raise `ConfigError` for an unknown skill."""
        if self.tasks is not None and self.tasks not in place.skills:
            what = f"no skill is called {self.tasks!r}; {suggest(self.tasks, place.skills)}"
            raise ConfigError(what, key="doors.openai.tasks")

    def build(self, context: DoorContext) -> OpenAi:
        """Return the door."""
        return OpenAi(context.assistant, tasks=self.tasks)


class OpenAi:
    """The door compatible with OpenAI's API; `tasks` is the skill for side tasks of Open WebUI."""

    name: Final = "openai"
    prefix: Final = PREFIX

    def __init__(self, assistant: Assistant, *, tasks: str | None = None) -> None:
        models, finder = ChatModels(assistant), DialogFinder(assistant)
        answering = Answering(assistant, finder, tasks)
        completions = Completions(models, finder, answering)
        responses = Responses(assistant, models, finder, answering)
        threads = ConversationEndpoints(assistant, finder)
        failing = partial(Operation, errors=[NotFound])
        create_completion = Operation(
            completions.create_completion, returns=ChatCompletion, errors=[NotFound, Conflict]
        )
        create_response = Operation(
            responses.create_response, returns=ResponseObject, errors=[NotFound, Conflict]
        )
        response, conversation = (
            "/v1/responses/{response_id}",
            "/v1/conversations/{conversation_id}",
        )
        self.routes: list[Route | ErrorForm] = [
            ErrorForm("/v1/", write_error, ApiErrorBody),
            _route("GET", "/v1/models", Operation(models.list_models)),
            _route("GET", "/v1/models/{model:path}", failing(models.show_model)),
            _route("POST", "/v1/chat/completions", create_completion),
            _route("POST", "/v1/responses", create_response),
            _route("GET", response, failing(responses.show_response)),
            _route("DELETE", response, failing(responses.delete_response)),
            _route("GET", f"{response}/input_items", failing(responses.list_input_items)),
            _route("POST", "/v1/conversations", Operation(threads.create_conversation)),
            _route("GET", conversation, failing(threads.show_conversation)),
            _route("POST", conversation, failing(threads.change_conversation)),
            _route("DELETE", conversation, failing(threads.delete_conversation)),
            _route("GET", f"{conversation}/items", failing(threads.list_items)),
        ]


def _route(method: Method, path: str, operation: Operation) -> Route:
    """Return a route; its clients always send a key, even if no keys are configured."""
    return Route(method, path, operation, any_secret=True)
