"""Dialog <-> the agent state JSON of DeepPavlov Agent, field by field.

Source: DeepPavlov Agent's `Dialog.to_dict()` and its documentation of the agent state. Better than
there: absent dates are null, a confidence of 0 stays 0, ids do not change, and unknown keys go
to `extra` and are written back.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import msgspec

from prolocutor.dialog import plain
from prolocutor.dialog.dialog import (
    PROFILE_KEYS,
    Bot,
    BotUtterance,
    Dialog,
    Human,
    HumanUtterance,
    Hypothesis,
)

State = dict[str, Any]

_HYPOTHESIS: Final = frozenset(Hypothesis.__struct_fields__) - {"extra"}

_raw_members: Final = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode


def encode_dialog(dialog: Dialog) -> bytes:
    """Write a dialog as agent state JSON."""
    return plain.encode(dialog_to_state(dialog))


def decode_dialog(data: bytes) -> Dialog:
    """Read a dialog from agent state JSON; `BadReply` when it is not JSON."""
    state = plain.parse(data, max_bytes=plain.MAX_STATE_BYTES, max_depth=plain.MAX_STATE_DEPTH)
    return dialog_from_state(state.value)


def dialog_to_state(dialog: Dialog) -> State:
    """Return the agent state of a dialog; `utterances` stand again in the two split lists."""
    humans = [(u, human_utterance_to_state(u)) for u in _utterances(dialog, HumanUtterance)]
    bots = [(u, bot_utterance_to_state(u)) for u in _utterances(dialog, BotUtterance)]
    states = {id(u): state for u, state in (*humans, *bots)}
    return {
        "dialog_id": dialog.dialog_id,
        "_id": dialog.id,
        "_active": str(dialog.active),
        "channel_type": dialog.channel_type,
        "date_start": dialog.date_start,
        "date_finish": dialog.date_finish,
        "rating": dialog.rating,
        "attributes": dialog.attributes,
        "human": human_to_state(dialog.human),
        "bot": bot_to_state(dialog.bot),
        "utterances": [states[id(u)] for u in dialog.utterances],
        "human_utterances": [state for _, state in humans],
        "bot_utterances": [state for _, state in bots],
        **dialog.extra,
    }


def dialog_from_state(state: State) -> Dialog:
    """Read a dialog from its agent state; the two split lists are derived, not read."""
    rest = dict(state)
    for derived in ("human_utterances", "bot_utterances"):
        rest.pop(derived, None)
    return Dialog(
        dialog_id=rest.pop("dialog_id"),
        id=rest.pop("_id"),
        active=str(rest.pop("_active", "True")) == "True",
        channel_type=rest.pop("channel_type", ""),
        date_start=rest.pop("date_start", None),
        date_finish=rest.pop("date_finish", None),
        rating=rest.pop("rating", None),
        attributes=rest.pop("attributes", {}),
        human=human_from_state(rest.pop("human")),
        bot=bot_from_state(rest.pop("bot")),
        utterances=[utterance_from_state(u) for u in rest.pop("utterances", [])],
        extra=rest,
    )


def human_to_state(human: Human) -> State:
    """Return the agent state of a person."""
    return {
        "id": human.id,
        "user_external_id": human.user_external_id,
        "user_type": human.user_type,
        "persona": human.persona,
        "profile": human.profile,
        "attributes": human.attributes,
        **human.extra,
    }


def human_from_state(state: State) -> Human:
    """Read a person from agent state; missing profile keys become null."""
    rest = dict(state)
    return Human(
        id=rest.pop("id"),
        user_external_id=rest.pop("user_external_id"),
        user_type=rest.pop("user_type", "human"),
        persona=rest.pop("persona", []),
        profile={**dict.fromkeys(PROFILE_KEYS), **rest.pop("profile", {})},
        attributes=rest.pop("attributes", {}),
        extra=rest,
    )


def bot_to_state(bot: Bot) -> State:
    """Return the agent state of the assistant's side of a dialog."""
    return {
        "id": bot.id,
        "user_type": bot.user_type,
        "persona": bot.persona,
        "attributes": bot.attributes,
        **bot.extra,
    }


def bot_from_state(state: State) -> Bot:
    """Read the assistant's side of a dialog from agent state."""
    rest = dict(state)
    return Bot(
        id=rest.pop("id"),
        user_type=rest.pop("user_type", "bot"),
        persona=rest.pop("persona", []),
        attributes=rest.pop("attributes", {}),
        extra=rest,
    )


def profile_as_now(stored: State, now: State) -> State:
    """Return the present profile in the form of an utterance stored with an earlier profile.

    The persona is unchanged, as are empty attributes.
    """
    attributes = now["attributes"] if stored["attributes"] else {}
    return {**now, "persona": stored["persona"], "attributes": attributes}


def human_utterance_to_state(utterance: HumanUtterance) -> State:
    """Return the agent state of a human utterance."""
    return {
        "utt_id": utterance.utt_id,
        "text": utterance.text,
        "user": human_to_state(utterance.user),
        "annotations": utterance.annotations,
        "hypotheses": [hypothesis_to_state(h) for h in utterance.hypotheses],
        "date_time": utterance.date_time,
        "attributes": utterance.attributes,
        **utterance.extra,
    }


def bot_utterance_to_state(utterance: BotUtterance) -> State:
    """Return the agent state of a bot utterance."""
    return {
        "utt_id": utterance.utt_id,
        "text": utterance.text,
        "orig_text": utterance.orig_text,
        "active_skill": utterance.active_skill,
        "confidence": utterance.confidence,
        "user": bot_to_state(utterance.user),
        "annotations": utterance.annotations,
        "date_time": utterance.date_time,
        "attributes": utterance.attributes,
        **utterance.extra,
    }


def utterance_from_state(state: State) -> HumanUtterance | BotUtterance:
    """Read an utterance from agent state; with an `active_skill` it is a bot utterance."""
    return (bot_utterance_from_state if is_bot(state) else human_utterance_from_state)(state)


def is_bot(state: State) -> bool:
    """Return whether the agent state of an utterance is the bot's."""
    return "active_skill" in state


def human_utterance_from_state(state: State) -> HumanUtterance:
    """Read a human utterance from agent state."""
    rest = dict(state)
    return HumanUtterance(
        utt_id=rest.pop("utt_id"),
        text=rest.pop("text", ""),
        user=human_from_state(rest.pop("user")),
        annotations=rest.pop("annotations", {}),
        hypotheses=[hypothesis_from_state(h) for h in rest.pop("hypotheses", [])],
        date_time=rest.pop("date_time"),
        attributes=rest.pop("attributes", {}),
        extra=rest,
    )


def bot_utterance_from_state(state: State) -> BotUtterance:
    """Read a bot utterance from agent state."""
    rest = dict(state)
    return BotUtterance(
        utt_id=rest.pop("utt_id"),
        text=rest.pop("text", ""),
        orig_text=rest.pop("orig_text", None),
        active_skill=rest.pop("active_skill", ""),
        confidence=rest.pop("confidence", 1),
        user=bot_from_state(rest.pop("user")),
        annotations=rest.pop("annotations", {}),
        date_time=rest.pop("date_time"),
        attributes=rest.pop("attributes", {}),
        extra=rest,
    )


def hypothesis_to_state(hypothesis: Hypothesis) -> State:
    """Return the agent state of a hypothesis, without absent fields."""
    given: State = plain.unpack_structs(hypothesis)
    return {
        "skill_name": hypothesis.skill_name,
        "annotations": hypothesis.annotations,
        "text": hypothesis.text,
        "confidence": hypothesis.confidence,
        **given,
    }


def hypothesis_from_state(state: State) -> Hypothesis:
    """Read a hypothesis from agent state."""
    if "text" in state and _HYPOTHESIS.issuperset(state):
        return Hypothesis(**state)
    known = {key: value for key, value in state.items() if key in _HYPOTHESIS}
    extra = {key: value for key, value in state.items() if key not in _HYPOTHESIS}
    return Hypothesis(**{"text": "", **known}, extra=extra)


def _utterances(dialog: Dialog, kind: type[Any]) -> list[Any]:
    return [u for u in dialog.utterances if isinstance(u, kind)]


def human_utterance(body: bytes, user: bytes, hypotheses: bytes = b"[]") -> bytes:
    """Complete the body of a human utterance with its `user` and `hypotheses`."""
    return b"".join((body[:-1], b',"user":', user, b',"hypotheses":', hypotheses, b"}"))


def bot_utterance(body: bytes, user: bytes) -> bytes:
    """Complete the body of a bot utterance with its `user`."""
    return b"".join((body[:-1], b',"user":', user, b"}"))


def new_human(id_: str, user: str) -> bytes:
    """Return the agent state of a new person."""
    return plain.encode(human_to_state(Human(id=id_, user_external_id=user)))


def new_bot(id_: str) -> bytes:
    """Return the agent state of the assistant's side of a new dialog."""
    return plain.encode(bot_to_state(Bot(id=id_)))


def rating(value: Any, user: str | None, at: str) -> bytes:
    """Write a rating in the form of `attributes.ratings`."""
    return plain.encode({"rating": value, "user_external_id": user, "datetime": at})


def add_ratings(state: bytes, ratings: Sequence[bytes]) -> bytes:
    """Show ratings in the `attributes` of an utterance or dialog, given as agent state JSON."""
    members = _raw_members(state)
    members["attributes"] = msgspec.Raw(
        attributes_with_ratings(bytes(members.get("attributes", b"{}")), ratings)
    )
    return plain.encode(members)


def attributes_with_ratings(attributes: bytes, ratings: Sequence[bytes]) -> bytes:
    """Add ratings to `attributes` (a JSON object), after its own ratings."""
    members = _raw_members(attributes)
    held = plain.decode(members.get("ratings", b"[]"))
    shown = [plain.encode(one) for one in held] if isinstance(held, list) else []
    members["ratings"] = msgspec.Raw(b"[%b]" % b",".join((*shown, *ratings)))
    return plain.encode(members)


def last_rating(ratings: Sequence[bytes]) -> bytes:
    """Return the value of the last rating as JSON, `null` without ratings."""
    return bytes(_raw_members(ratings[-1])["rating"]) if ratings else b"null"
