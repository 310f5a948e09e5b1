"""DialogFinder: finds the dialog of a request.

Clients of chat completions name no dialog: they send all earlier messages. A dialog is found again
by a hash of these. Records in the store say which reply ended a history; they are written before
the reply is sent, so that a restart or another replica finds the dialog as well:

    owner, "openai-history:<hash>", <conversation> -> Ending

The owner is the person where the request says who it is. Otherwise it is the caller: a hash of the
key that came. A history may then be that of several persons who do not know of each other. Clients
with the same sent and received texts cannot be told apart, and neither knows anything that the
other does not; each gets one of their dialogs. Where anything differs, or the history has been
continued already (an edit, a repeated reply), a new dialog begins with the known turns.
"""

from __future__ import annotations

import asyncio
import hashlib
import re
from collections.abc import Iterable, Sequence
from typing import Final

import msgspec

from prolocutor.assistant.assistant import Assistant
from prolocutor.contracts.http import Visitor
from prolocutor.dialog import plain
from prolocutor.dialog.dialog import BotUtterance
from prolocutor.dialog.ids import new_id
from prolocutor.dialog.inputs import EarlierTurn
from prolocutor.dialog.messages import is_ask
from prolocutor.errors import BadInput, Forbidden, NotFound
from prolocutor.plugins.openai.door.requests import MAX_ID, CallerHeaders, ChatInput, Said
from prolocutor.web.door_context import DoorPersons

MAX_RETOLD: Final = 10
"""Turns of a history that a new dialog begins with; services see fewer."""

PREFIX: Final = "openai:"
PERSONS: Final = DoorPersons(PREFIX, unnamed=None)
RESPONSE: Final = "openai-response:"
DELETED: Final = "openai-conversation-deleted:"

_ISSUED: Final = re.compile(r"conv_([0-9a-f]{32})")
_NOBODY: Final = f"{PREFIX}?"


class Ending(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The end of a history: a reply in a dialog of a user.

    `came` is a hash of all attributes of the inputs, "" if there were none. `next` is
    set when the dialog has gone on: the idempotency key of the next input, or "-".
    """

    user: str
    dialog: str
    utt_id: str
    came: str = ""
    next: str = ""


def retold(history: Sequence[Said]) -> list[EarlierTurn]:
    """Return the last turns of a history; texts of the same speaker in a row are joined."""
    turns: list[list[str]] = []
    for one in history:
        is_reply = one.role == "assistant"
        if not turns or (not is_reply and turns[-1][1]):
            turns.append(["", ""])
        said = turns[-1][is_reply]
        turns[-1][is_reply] = f"{said}\n{one.text}" if said else one.text
    return [EarlierTurn(text=text, reply=reply) for text, reply in turns[-MAX_RETOLD:]]


def make_earlier(text: str, reply: BotUtterance) -> EarlierTurn:
    """Return a stored turn in the form for the beginning of a new dialog."""
    messages, ask = reply.attributes.get("messages"), reply.attributes.get("ask")
    return EarlierTurn(
        text=text,
        reply=reply.text,
        messages=messages if isinstance(messages, list) else [],
        ask=ask if is_ask(ask) else None,
        skill=reply.active_skill,
    )


def history_kind(history: Sequence[Said], calls: Iterable[str] = ()) -> str:
    """Return the kind of the records of a history; spaces and line breaks do not count.

    `calls` are the ids of the calls of the client's tools that end it.
    """
    told: list[tuple[str, str]] = [(one.role, " ".join(one.text.split())) for one in history]
    told += [("call", id_) for id_ in sorted(calls)]
    return f"openai-history:{_hash(plain.encode(told))}"


def attributes_hash(before: str, given: ChatInput) -> str:
    """Return the hash of all attributes so far; instructions are sent every time."""
    extra = {key: value for key, value in given.extra.items() if key != "instructions"}
    told = {**given.attributes, "openai": extra} if extra else given.own_attributes
    return _hash(before.encode() + plain.encode(told)) if told else before


def digest(text: str) -> str:
    """Return a short hash of a text."""
    return _hash(text.encode("utf-8", "surrogatepass"))


def _hash(data: bytes) -> str:
    return hashlib.blake2b(data, digest_size=16).hexdigest()


read_ending: Final = msgspec.json.Decoder(Ending).decode


class EndingKey(msgspec.Struct, frozen=True):
    """The place of an ending: the owner, kind and key of a record."""

    owner: str
    kind: str
    key: str


class ClaimedEnding(msgspec.Struct, frozen=True):
    """An ending that only a single request may continue, and its place."""

    key: EndingKey
    ending: Ending


class FoundDialog(msgspec.Struct, kw_only=True):
    """The dialog of a request. `id` names it to clients.

    - `owner` is whose records name it, None where an id came and nothing need be found again.
    - `earlier` are the first turns of a new dialog, `claimed` the ending that it continues.
    - `key` is the idempotency key.
    - `has_responses`: its replies can be gone on from by their ids.
    """

    user: str
    dialog: str
    id: str
    owner: str | None = None
    earlier: Sequence[EarlierTurn] = ()
    claimed: ClaimedEnding | None = None
    came: str = ""
    key: str | None = None
    has_responses: bool = False


class DialogFinder:
    """Finds the dialogs of requests, and notes their endings."""

    def __init__(self, assistant: Assistant) -> None:
        self._assistant = assistant
        self._store = assistant.store
        self._claimed: set[EndingKey] = set()
        self._resenders: set[str] = set()

    async def find(
        self,
        visitor: Visitor,
        headers: CallerHeaders,
        given: ChatInput,
        *,
        user: str | None,
        conversation: str | None,
    ) -> FoundDialog:
        """Return the dialog of a request; call `release` at the end of the request."""
        person = find_person(visitor, user or headers.web_user)
        id_ = conversation or headers.conversation or headers.web_chat
        key = headers.idempotency_key
        if id_ is not None:
            found = find_conversation(visitor, person, id_)
            await self.check_is_kept(found)
            found.key = key
            if given.history:
                found.earlier = retold(given.history)
            return found
        owner = person or _caller(visitor, headers, given)
        if not given.history:
            return await self._first(owner, person, key, given)
        if person is not None:
            await self._note_resender(person)
        return await self._gone_on(visitor, owner, person, key, given)

    async def check_is_kept(self, found: FoundDialog) -> None:
        """Raise `NotFound` for a deleted conversation."""
        if await self._store.records(found.user, f"{DELETED}{found.id}"):
            raise NotFound(f"there is no conversation {found.id!r:.80}", field="conversation_id")

    async def delete(self, found: FoundDialog) -> None:
        """End a conversation for good: its id cannot begin another conversation."""
        await self._store.put_record(found.user, f"{DELETED}{found.id}", "", b"{}")
        await self._assistant.archive.close(found.user, found.dialog)

    async def begin(self, found: FoundDialog) -> None:
        """Start a new dialog with the earlier turns."""
        if found.earlier:
            await self._assistant.archive.begin(
                found.earlier, found.user, found.dialog, channel="openai"
            )

    async def note(
        self,
        found: FoundDialog,
        given: ChatInput,
        said: str,
        utt_id: str,
        *,
        repeated: bool,
        calls: Iterable[str] = (),
    ) -> None:
        """Store the present end of the dialog: words, or calls of the client's tools."""
        ending = Ending(user=found.user, dialog=found.dialog, utt_id=utt_id, came=found.came)
        name = digest(f"{found.user}\n{found.dialog}")
        places: list[EndingKey] = []
        if found.owner is not None:
            places.append(
                EndingKey(found.owner, history_kind(given.resent_history(said), calls), name)
            )
        if found.has_responses:
            places.append(EndingKey(found.user, f"{RESPONSE}{utt_id}", name))
        if repeated:
            places = [
                place
                for place in places
                if place.key not in await self._store.records(place.owner, place.kind)
            ]
        writes = [self._put(place, ending) for place in places]
        left = found.claimed
        if left is not None and (writes or not repeated):
            gone_on = msgspec.structs.replace(left.ending, next=found.key or "-")
            writes.append(self._put(left.key, gone_on))
        if writes:
            await asyncio.gather(*writes)

    def release(self, found: FoundDialog) -> None:
        """Let others go on from where this request did, if it came to nothing."""
        if found.claimed is not None:
            self._claimed.discard(found.claimed.key)

    async def find_by_response(self, user: str, utt_id: str, key: str | None) -> FoundDialog | None:
        """Return the dialog to continue after a reply, or None.

        Where it was gone on from already, a new dialog begins with the turns up to it.
        """
        kind = f"{RESPONSE}{utt_id}"
        endings = await self._store.records(user, kind)
        for name, body in endings.items():
            ending, claim = read_ending(body), EndingKey(user, kind, name)
            is_free = not ending.next and claim not in self._claimed
            if is_free or (key is not None and ending.next == key):
                self._claimed.add(claim)
                return FoundDialog(
                    user=user, dialog=ending.dialog, id=_client_id(user, ending.dialog),
                    claimed=ClaimedEnding(claim, ending), key=key, has_responses=True,
                )  # fmt: skip
            dialog = f"conv_{_conversation_name(user, key)}"
            return FoundDialog(
                user=user, dialog=dialog, id=dialog, earlier=await self._load_turns(ending),
                key=key, has_responses=True,
            )  # fmt: skip
        return None

    async def _put(self, place: EndingKey, ending: Ending) -> None:
        await self._store.put_record(place.owner, place.kind, place.key, plain.encode(ending))

    async def _load_turns(self, ending: Ending) -> list[EarlierTurn]:
        """Return the last turns of a dialog up to a reply."""
        dialog_id = await self._store.active_dialog_id(ending.user, ending.dialog)
        dialog = None if dialog_id is None else await self._store.dialog(dialog_id)
        turns: list[EarlierTurn] = []
        text = ""
        for utterance in dialog.utterances if dialog is not None else ():
            if not isinstance(utterance, BotUtterance):
                text = utterance.text
                continue
            turns.append(make_earlier(text, utterance))
            if utterance.utt_id == ending.utt_id:
                break
        return turns[-MAX_RETOLD:]

    async def _first(
        self, owner: str, person: str | None, key: str | None, chat_input: ChatInput
    ) -> FoundDialog:
        """Return the dialog of a request without a history.

        A person with a client that sends histories begins a new dialog; another goes on with
        "main".
        """
        token = _conversation_name(owner, key)
        came = attributes_hash("", chat_input)
        if person is None:
            return FoundDialog(
                user=f"{PREFIX}conversation-{token}", dialog="main", id=f"conv_{token}",
                owner=owner, came=came, key=key,
            )  # fmt: skip
        name = f"conv_{token}" if await self._is_resender(person) else "main"
        return FoundDialog(user=person, dialog=name, id=name, owner=owner, came=came, key=key)

    async def _gone_on(
        self,
        visitor: Visitor,
        owner: str,
        person: str | None,
        key: str | None,
        chat_input: ChatInput,
    ) -> FoundDialog:
        """Return the dialog with this history, or a new dialog beginning with it."""
        kind = history_kind(
            chat_input.history, (result.tool_call_id or "" for result in chat_input.results)
        )
        endings = {
            name: read_ending(body)
            for name, body in (await self._store.records(owner, kind)).items()
        }
        if visitor.kind == "anonymous":
            endings = {name: one for name, one in endings.items() if not one.came}
        alike = person is not None or len({one.came for one in endings.values()}) == 1
        for name, ending in endings.items() if alike else ():
            claim = EndingKey(owner, kind, name)
            if (key is not None and ending.next == key) or (
                not ending.next and claim not in self._claimed
            ):
                self._claimed.add(claim)
                return FoundDialog(
                    user=ending.user, dialog=ending.dialog,
                    id=_client_id(ending.user, ending.dialog), owner=owner,
                    claimed=ClaimedEnding(claim, ending),
                    came=attributes_hash(ending.came, chat_input), key=key,
                )  # fmt: skip
        branched = [*endings.values()][-1] if endings and alike else None
        earlier = retold(chat_input.history)
        if branched is not None:
            earlier[-1:] = await self._last_turn(branched, earlier[-1])
        token = _conversation_name(owner, key)
        user, dialog = person, f"conv_{token}"
        if user is None and branched is not None and len(endings) == 1:
            user = branched.user
        elif user is None:
            user, dialog = f"{PREFIX}conversation-{token}", "main"
        elif not endings and not await self._store.active_dialog_id(user, "main"):
            dialog = "main"
        return FoundDialog(
            user=user, dialog=dialog, id=_client_id(user, dialog), owner=owner, earlier=earlier,
            came=attributes_hash(branched.came if branched else "", chat_input), key=key,
        )  # fmt: skip

    async def _last_turn(self, ending: Ending, turn: EarlierTurn) -> list[EarlierTurn]:
        """Return the last turn of a history as it is stored, with its open question."""
        stored = await self._store.turn(ending.utt_id)
        reply = stored[-1] if stored else None
        if len(stored) != 2 or not isinstance(reply, BotUtterance):
            return [turn]
        return [make_earlier(stored[0].text, reply)]

    async def _note_resender(self, person: str) -> None:
        """Note that the client of a person sends histories."""
        if not await self._is_resender(person):
            await self._store.put_record(person, "openai", "resends", b"true")
            self._remember(person)

    async def _is_resender(self, person: str) -> bool:
        if person not in self._resenders and await self._store.records(person, "openai"):
            self._remember(person)
        return person in self._resenders

    def _remember(self, person: str) -> None:
        if len(self._resenders) >= 10_000:
            self._resenders.clear()
        self._resenders.add(person)


def find_person(visitor: Visitor, user: str | None) -> str | None:
    """Return the person of a request, None if the request names no person.

    Raise `Forbidden` for another person than the visitor may be.
    """
    return PERSONS.find(visitor, user)


def _caller(visitor: Visitor, headers: CallerHeaders, chat_input: ChatInput) -> str:
    """Return the owner of histories without a person."""
    told = [headers.authorization or ""]
    if visitor.kind == "anonymous":
        told.append(chat_input.instructions)
    return _NOBODY + digest("\n".join(told))


def find_conversation(visitor: Visitor, person: str | None, id_: str) -> FoundDialog:
    """Return the conversation with an id; an anonymous visitor's id must have been issued here."""
    if not 0 < len(id_) <= MAX_ID:
        raise BadInput(f"a conversation's id has 1 to {MAX_ID} characters", field="conversation_id")
    if person is not None:
        return FoundDialog(user=person, dialog=id_, id=id_)
    issued = _ISSUED.fullmatch(id_)
    if issued is None and visitor.kind == "anonymous":
        raise Forbidden(
            "without a token use the id of a conversation that was issued here",
            field="conversation_id",
        )
    name = issued[1] if issued is not None else id_
    return FoundDialog(user=f"{PREFIX}conversation-{name}", dialog="main", id=id_)


def _client_id(user: str, dialog: str) -> str:
    """Return the id by which clients name a dialog."""
    unnamed = user.removeprefix(f"{PREFIX}conversation-")
    return f"conv_{unnamed}" if unnamed != user and dialog == "main" else dialog


def _conversation_name(owner: str, key: str | None) -> str:
    """Return the name of a new conversation: the same for the same idempotency key."""
    return new_id() if key is None else digest(f"{owner}\n{key}")
