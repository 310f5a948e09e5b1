"""Agent state JSON spliced from stored parts, decoding as little as possible."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import msgspec

from prolocutor.dialog import agent_state, plain
from prolocutor.dialog.profiles import Bot, Change, Human, apply_changes

_raw_members: Final = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode


def human_utterance(body: bytes, user: bytes, hypotheses: bytes = b"[]") -> bytes:
    """Complete the body of a human utterance with its `user` and `hypotheses`."""
    return b"".join((body[:-1], b',"user":', user, b',"hypotheses":', hypotheses, b"}"))


def bot_utterance(body: bytes, user: bytes) -> bytes:
    """Complete the body of a bot utterance with its `user`."""
    return b"".join((body[:-1], b',"user":', user, b"}"))


def new_human(id_: str, user: str) -> bytes:
    """Return the agent state of a new person."""
    return plain.encode(agent_state.human_to_state(Human(id=id_, user_external_id=user)))


def new_bot(id_: str) -> bytes:
    """Return the agent state of the assistant's side of a new dialog."""
    return plain.encode(agent_state.bot_to_state(Bot(id=id_)))


def changed(state: bytes, changes: Sequence[Change]) -> bytes:
    """Return the agent state of a profile with these changes applied."""
    decoded: dict[str, Any] = plain.decode(state)
    apply_changes(decoded, list(changes))
    return plain.encode(decoded)


def rating(value: Any, user: str | None, at: str) -> bytes:
    """Write one rating as it stands in `attributes.ratings`."""
    return plain.encode({"rating": value, "user_external_id": user, "datetime": at})


def with_ratings(state: bytes, ratings: Sequence[bytes]) -> bytes:
    """Show ratings in the `attributes` of an utterance or dialog, given as agent state JSON."""
    members = _raw_members(state)
    members["attributes"] = msgspec.Raw(
        attributes_with_ratings(bytes(members.get("attributes", b"{}")), ratings)
    )
    return plain.encode(members)


def attributes_with_ratings(attributes: bytes, ratings: Sequence[bytes]) -> bytes:
    """Show ratings in `attributes` (a JSON object), after those that it holds already."""
    members = _raw_members(attributes)
    held = plain.decode(members.get("ratings", b"[]"))
    shown = [plain.encode(one) for one in held] if isinstance(held, list) else []
    members["ratings"] = msgspec.Raw(b"[%b]" % b",".join((*shown, *ratings)))
    return plain.encode(members)


def last_rating(ratings: Sequence[bytes]) -> bytes:
    """Return the value of the last of these ratings as JSON, `null` if there is none."""
    return bytes(_raw_members(ratings[-1])["rating"]) if ratings else b"null"
