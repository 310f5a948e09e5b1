"""Conversations: `/v1/conversations`, for clients which make them before they talk."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any, Literal

import msgspec

from prolocutor.assistant.assistant import Assistant
from prolocutor.dialog import plain
from prolocutor.dialog.dialog import BotUtterance
from prolocutor.dialog.ids import new_id
from prolocutor.dialog.rendering import said_as_text
from prolocutor.errors import NotFound
from prolocutor.plugins.openai.door.dialog_finder import (
    DialogFinder,
    FoundDialog,
    find_conversation,
    find_person,
    retold,
)
from prolocutor.plugins.openai.door.requests import (
    CallerHeaders,
    ChatTurnMessage,
    ResponseRequest,
    Said,
    message_text,
)
from prolocutor.plugins.openai.door.responses import output_message
from prolocutor.web.operations import TypedRequest

KIND = "openai-conversation"


class ConversationPath(CallerHeaders, frozen=True, kw_only=True):
    """The parameters of a request about a conversation."""

    conversation_id: str


class ItemsQuery(ConversationPath, frozen=True, kw_only=True):
    """The requested items of a conversation."""

    limit: int = 20
    order: Literal["asc", "desc"] = "desc"
    after: str | None = None


class ConversationRequest(msgspec.Struct, kw_only=True):
    """A new conversation, or changes to a conversation."""

    metadata: dict[str, Any] | None = None
    items: list[dict[str, Any]] | None = None


class ConversationObject(msgspec.Struct, kw_only=True):
    """A conversation."""

    id: str
    created_at: int
    metadata: dict[str, Any]
    object: Literal["conversation"] = "conversation"


class DeletedConversation(msgspec.Struct, kw_only=True):
    """An ended conversation."""

    id: str
    object: Literal["conversation.deleted"] = "conversation.deleted"
    deleted: bool = True


class ConversationItems(msgspec.Struct, kw_only=True):
    """The items of a conversation."""

    data: Sequence[Any]
    first_id: str
    last_id: str
    has_more: bool
    object: Literal["list"] = "list"


class ConversationEndpoints:
    """The endpoints of conversations: each is a dialog."""

    def __init__(self, assistant: Assistant, finder: DialogFinder) -> None:
        self._assistant = assistant
        self._store = assistant.store
        self._finder = finder

    async def create_conversation(
        self, request: TypedRequest[CallerHeaders, ConversationRequest]
    ) -> ConversationObject:
        """Make a conversation; `items` are its earlier messages."""
        dialog = self._find_dialog(request, f"conv_{new_id()}")
        made = ConversationObject(
            id=dialog.id, created_at=int(time.time()), metadata=request.body.metadata or {}
        )
        await self._put(dialog, made)
        if request.body.items:
            dialog.earlier = retold(_history(request.body.items))
            await self._finder.begin(dialog)
        return made

    async def show_conversation(
        self, request: TypedRequest[ConversationPath, None]
    ) -> ConversationObject:
        """Return a conversation."""
        return (await self._load_conversation(request))[1]

    async def change_conversation(
        self, request: TypedRequest[ConversationPath, ConversationRequest]
    ) -> ConversationObject:
        """Replace the metadata of a conversation."""
        found, stored = await self._load_conversation(request)
        stored.metadata = request.body.metadata or {}
        await self._put(found, stored)
        return stored

    async def delete_conversation(
        self, request: TypedRequest[ConversationPath, None]
    ) -> DeletedConversation:
        """End a conversation; its messages stay in the store until the person is deleted."""
        found, stored = await self._load_conversation(request)
        await self._store.delete_record(found.user, KIND, stored.id)
        await self._finder.delete(found)
        return DeletedConversation(id=stored.id)

    async def list_items(self, request: TypedRequest[ItemsQuery, None]) -> ConversationItems:
        """List the items of a conversation."""
        found, _ = await self._load_conversation(request)
        query = request.params
        dialog_id = await self._store.active_dialog_id(found.user, found.dialog)
        dialog = None if dialog_id is None else await self._store.dialog(dialog_id)
        items: list[tuple[str, Any]] = []
        for utterance in dialog.utterances if dialog is not None else ():
            id_ = f"msg_{utterance.utt_id}"
            if isinstance(utterance, BotUtterance):
                text = said_as_text(utterance.text, utterance.attributes)
                items.append((id_, output_message(utterance.utt_id, text)))
                continue
            content = [{"type": "input_text", "text": utterance.text}]
            said = {"id": id_, "type": "message", "role": "user", "status": "completed"}
            items.append((id_, {**said, "content": content}))
        if query.order == "desc":
            items.reverse()
        ids = [id_ for id_, _ in items]
        start = ids.index(query.after) + 1 if query.after in ids else 0
        page = items[start : start + max(1, min(query.limit, 100))]
        return ConversationItems(
            data=[item for _, item in page],
            first_id=page[0][0] if page else "",
            last_id=page[-1][0] if page else "",
            has_more=start + len(page) < len(items),
        )

    async def _load_conversation(
        self, request: TypedRequest[Any, Any]
    ) -> tuple[FoundDialog, ConversationObject]:
        id_ = request.params.conversation_id
        dialog = self._find_dialog(request, id_)
        await self._finder.check_is_kept(dialog)
        stored = (await self._store.records(dialog.user, KIND)).get(id_)
        if stored is not None:
            return dialog, msgspec.json.decode(stored, type=ConversationObject)
        dialog_id = await self._store.active_dialog_id(dialog.user, dialog.dialog)
        if dialog_id is None:
            raise NotFound(f"there is no conversation {id_!r:.80}", field="conversation_id")
        return dialog, ConversationObject(id=id_, created_at=0, metadata={})

    async def _put(self, dialog: FoundDialog, created: ConversationObject) -> None:
        await self._store.put_record(dialog.user, KIND, created.id, plain.encode(created))

    def _find_dialog(self, request: TypedRequest[Any, Any], id_: str) -> FoundDialog:
        person = find_person(request.visitor, request.params.web_user)
        return find_conversation(request.visitor, person, id_)


def _history(items: list[dict[str, Any]]) -> list[Said]:
    """Return the texts of a conversation's items."""
    messages: list[ChatTurnMessage] = ResponseRequest(input=items).messages()
    return [
        Said(
            "assistant" if message.role == "assistant" else "user",
            message_text(message.content, "items"),
        )
        for message in messages
        if message.role in ("user", "assistant")
    ]
