"""Turn effects: the open ask, the preferred skill and the agenda after a turn."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from msgspec.structs import replace

from prolocutor.assistant.rounds import own_words
from prolocutor.assistant.rounds.decision import Decision, HandoverChange, TurnEffects
from prolocutor.assistant.rounds.interpreter import read_round
from prolocutor.contracts.store import NO_ASK_CLOSING, NO_ROUND, AgendaEntry, OpenedTurn
from prolocutor.dialog import plain, rounds, schedules
from prolocutor.dialog.inputs import STOPPED
from prolocutor.dialog.messages import add_owner
from prolocutor.dialog.rounds import NOTHING, Handover, PendingAsk, Round
from prolocutor.dialog.schedules import Notice, unix_time
from prolocutor.pipeline.draft import ITSELF, Draft, DraftReply

PREFERRED_TURNS: Final = 5
"""Turns in a row that a skill that can go on may win by being preferred alone."""

CONTINUES: Final = (True, "must", "can")
"""Values of `can_continue` that mean yes."""

_ASK_WORDS: Final = ("ask_hint", "ask_again")
"""Attributes of a hypothesis with an ask: how to answer, and the question alone."""

_NO_EFFECTS: Final = TurnEffects()
_WANTS_PERSON: Final = b'"wants_person"'
_WITH_EFFECTS: Final = frozenset({"can_continue", "schedule", "unschedule"})


def entries(
    user: str, dialog_name: str, since: float, chosen: Iterable[tuple[str, dict[str, Any]]]
) -> list[AgendaEntry]:
    """Return the agenda entries of the chosen hypotheses, each with its skill.

    Seconds count from `since`, when the person spoke, so that a second run comes to the same.
    """
    agenda = []
    for skill, value in chosen:
        for line in value.get("schedule") or ():
            wait = line.get("in")
            due = unix_time(line["at"]) if wait is None else since + wait
            notice = Notice(
                messages=line["messages"],
                ask=line.get("ask"),
                skill=skill,
                every=line.get("every"),
                timezone=line.get("timezone"),
                first=due if line.get("every") else None,
            )
            entry = AgendaEntry(
                user=user,
                dialog_name=dialog_name,
                skill=skill,
                key=line["key"],
                due=due,
                body=schedules.encode(notice),
            )
            agenda.append(entry)
    return agenda


def struck(chosen: Iterable[tuple[str, dict[str, Any]]]) -> list[tuple[str, str]]:
    """Return the skill and key of each entry that the chosen hypotheses take off the agenda."""
    return [(skill, key) for skill, value in chosen for key in value.get("unschedule") or ()]


def turn_effects(opened: OpenedTurn, decision: Decision, draft: Draft) -> TurnEffects:
    """Return the effects of a turn with a decided reply, and complete the reply's messages.

    A skill's buttons get its name, so that they are routed back to it. A long list of choices is
    cut to its first page.
    """
    reply = draft.final_reply()
    ordinary = decision.pending is None and decision.run is None and not reply.messages
    if (
        ordinary
        and reply.ask is None
        and opened.round == NO_ROUND
        and not _has_effects(draft, reply)
    ):
        return _NO_EFFECTS
    if decision.ends and reply.ask is not None:
        draft.show(reply.messages, None)
    digressed = decision.kept if _digresses(decision, reply) else None
    if digressed is not None and decision.returns:
        _ask_again(draft, digressed)
    if reply.messages and reply.by != ITSELF:
        _mark_buttons(draft, reply)
    after = _next_round(decision, draft) if digressed is None else Round(waiting=digressed)
    handover, wanted = read_round(opened).handover, _wanted_person(reply)
    if handover is None and wanted is not None:
        handover = Handover(since=opened.opening.started, reason=wanted)
    else:
        wanted = None
    if handover is not None:
        after = replace(after, handover=handover)
    waiting = after.waiting
    own = waiting is not decision.pending and waiting is not digressed
    if waiting is not None and reply.ask is not None and own:
        draft.show(own_words.first_page(reply.messages, waiting), reply.ask)
    lines = [(one.skill, one.value) for one in draft.speakers]
    run, opening = decision.run, opened.opening
    scheduled = entries(opening.user, opening.dialog_name, opening.started, lines)
    encoded = rounds.encode(after)
    return TurnEffects(
        waiting=waiting,
        round=None if encoded == opened.round else encoded,
        closing=encode_closing(waiting),
        entries=[*scheduled, *(run.entries if run else ())],
        struck=[*struck(lines), *(run.struck if run else ())],
        handover=None if wanted is None else HandoverChange(state="waits", text=wanted),
    )


def _digresses(decision: Decision, reply: DraftReply) -> bool:
    """Return whether a skill answered something beside the open ask, and asks nothing itself."""
    kept = decision.kept
    if kept is None or reply.ask is not None or not reply.says_something:
        return False
    if reply.active_skill == kept.skill:
        return False
    return reply.by not in (ITSELF, "fallback", STOPPED)


def _ask_again(draft: Draft, waiting: PendingAsk) -> None:
    """Let the question stand again at the end of the reply."""
    reply = draft.final_reply()
    question = own_words.asks_again(waiting).messages
    messages = reply.messages or [{"type": "text", "text": reply.text}]
    prompt = " ".join(one["text"] for one in question if one["type"] == "text")
    text = f"{reply.text.rstrip()} {prompt}".strip()
    draft.show([*messages, *question], waiting.ask, waiting.skill)
    reply.text = text


def _has_effects(draft: Draft, reply: DraftReply) -> bool:
    """Return whether the reply, or a hypothesis of it, carries effects of its own."""
    if _WANTS_PERSON in reply.attributes:
        return True
    return not all(map(_WITH_EFFECTS.isdisjoint, [one.value for one in draft.speakers]))


def _wanted_person(reply: DraftReply) -> str | None:
    """Return why the reply wants a person to take over, None if it does not."""
    if _WANTS_PERSON not in reply.attributes:
        return None
    wanted = plain.decode(reply.attributes).get("wants_person")
    if not wanted:
        return None
    return wanted if isinstance(wanted, str) else ""


def encode_closing(waiting: PendingAsk | None) -> bytes:
    """Return the closing of a turn: the clients' view of the open ask, as JSON."""
    if waiting is None:
        return NO_ASK_CLOSING
    closing: dict[str, Any] = {"ask": waiting.ask}
    if waiting.code:
        closing |= {"code": waiting.code, "entities": waiting.entities}
    return plain.encode(closing)


def pending_ask(
    messages: list[dict[str, Any]],
    ask: Any,
    skill: str,
    text: str = "",
    context: Any = None,
    hint: str = "",
    again: str = "",
) -> PendingAsk:
    """Return the open ask that these messages of a skill make; `again` is the question alone."""
    prompt = [one for one in messages if one["type"] != "choice"]
    if again or (not messages and text):
        others = [one for one in prompt if one["type"] != "text"]
        prompt = [{"type": "text", "text": again or text}, *others]
    return PendingAsk(
        ask=ask,
        skill=skill,
        prompt=prompt,
        choices=own_words.offered_choices(messages),
        context=context,
        hint=hint,
    )


def is_cancelled(decision: Decision, reply: DraftReply) -> bool:
    """Return whether the skill whose ask was open has to be told that it is over."""
    if decision.cancelled_skill is None or _digresses(decision, reply):
        return False
    return decision.pending is None or reply.by != ITSELF


def _mark_buttons(draft: Draft, reply: DraftReply) -> None:
    marked = add_owner(reply.messages, reply.active_skill)
    if marked is not reply.messages:
        draft.show(marked, reply.ask)


def _next_round(decision: Decision, draft: Draft) -> Round:
    reply = draft.final_reply()
    before = decision.state
    if reply.by == ITSELF:
        return _own_round(before, decision, reply)
    if reply.by in ("fallback", STOPPED) and before.waiting is not None:
        return before
    if decision.ends:
        return NOTHING
    if reply.ask is not None:
        # What the skill wants back with the answer: a task of its own that waits for it, say.
        asking = next((one.value for one in draft.speakers if one.value.get("ask")), {})
        kept = (one.value.get("ask_context") for one in draft.speakers)
        context = next((one for one in kept if one is not None), None)
        ask_words = [one if isinstance(one := asking.get(key), str) else "" for key in _ASK_WORDS]
        waiting = pending_ask(
            reply.messages, reply.ask, reply.active_skill, reply.text, context, *ask_words
        )
        return Round(waiting=waiting)
    if any(one.value.get("can_continue") in CONTINUES for one in draft.speakers):
        return _going_on(before, draft, reply)
    return NOTHING if draft.speakers else _less_preferred(before)


def _own_round(before: Round, decision: Decision, reply: DraftReply) -> Round:
    if decision.pending is not None:
        return Round(waiting=decision.pending)
    run = decision.run
    if run is not None and reply.ask is not None:
        ask = pending_ask(reply.messages, reply.ask, "", context=run.context)
        return Round(waiting=replace(ask, code=run.code, entities=run.entities))
    if run is not None and run.more is not None:
        return Round(more=run.more)
    if decision.start.input.retold is not None and reply.ask is not None:
        return Round(waiting=pending_ask(reply.messages, reply.ask, reply.active_skill, reply.text))
    if decision.start.say is None and decision.start.otherwise is None and reply.ask is not None:
        return Round(waiting=pending_ask(reply.messages, reply.ask, ""))
    return NOTHING if decision.releases else _less_preferred(before)


def _less_preferred(before: Round) -> Round:
    if before.left <= 1:
        return NOTHING
    return Round(preferred=before.preferred, left=before.left - 1)


def _going_on(before: Round, draft: Draft, reply: DraftReply) -> Round:
    """Prefer a skill that can go on; winning by preference alone uses up a turn of it."""
    skill, left = reply.active_skill, PREFERRED_TURNS
    if before.preferred == skill:
        every = draft.all_hypotheses()
        own = max(one.value["confidence"] for one in every if one.skill == skill)
        if any(one.value["confidence"] > own for one in every):
            left = before.left - 1
    return Round(preferred=skill, left=left) if left > 0 else NOTHING
