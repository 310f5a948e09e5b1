"""The slots of a turn; no other file writes to a dialog.

Each service owns a slot, named after its stage and itself; the order of arrival of replies has no
effect. `draft_view.py` shows a draft to services and encodes it for the store.
"""

from __future__ import annotations

from functools import lru_cache, partial
from itertools import chain
from typing import Any, Final

import msgspec

from prolocutor.contracts.store import NewProfileVersion, OpenedTurn, ProfileVersion
from prolocutor.dialog.ids import timestamp
from prolocutor.dialog.inputs import DirectReply
from prolocutor.dialog.plain import Plain, decode, encode
from prolocutor.dialog.profile_changes import Fault, changed_profile
from prolocutor.dialog.rendering import plain_text
from prolocutor.pipeline.replies import SelectorChoice, SkillReply
from prolocutor.pipeline.snapshot import copied

Order = dict[str, int]
"""Position of each service in the declared order, by name."""

Slots = dict[str, Plain]
"""Annotations by name, in declared order."""

_RESERVED: Final = frozenset({"skill_name", "hypothesis_id", "annotations"})

_encoded_name: Final = lru_cache(maxsize=1024)(encode)
"""Encodes names of services, of which there are few."""

ITSELF: Final = "assistant"
"""The value of `Reply.by` for replies of the assistant itself."""

_RICH: Final = frozenset({"messages", "ask"})


def fill_slot(slots: Slots, name: str, reply: Plain, order: Order) -> Slots:
    """Return the slots and a new reply, in declared order whatever the order of arrival."""
    every = {**slots, name: reply}
    if slots and order.get(name, -1) < order.get(next(reversed(slots)), -1):
        return {slot: every[slot] for slot in sorted(every, key=partial(_place, order))}
    return every


def _place(order: Order, name: str) -> int:
    return order.get(name, -1)


def make_slots(values: dict[str, Any]) -> Slots:
    """Return slots of values."""
    return {name: Plain(value, encode(value)) for name, value in values.items()}


def slot_values(slots: Slots) -> dict[str, Any]:
    """Return the values of slots, without copying them."""
    return {name: reply.value for name, reply in slots.items()}


def encoded_slots(slots: Slots) -> bytes:
    """Return the values of slots as a JSON object."""
    if not slots:
        return b"{}"
    members = [b"%b:%b" % (_encoded_name(name), reply.encoded) for name, reply in slots.items()]
    return b"{%b}" % b",".join(members)


class DraftHypothesis:
    """A hypothesis in its slot: `id` is `<skill>.<position>`, whatever keys the skill gave.

    `value` is the skill's own object, `checked` its JSON if it was taken over unchanged, and
    `slots` are the annotations of candidate annotators (and of the skill itself). `template` is its
    agent state, which callers copy and never change.
    """

    __slots__ = ("_checked", "_encoded", "id", "position", "skill", "slots", "template", "value")

    def __init__(
        self,
        skill: str,
        position: int,
        value: dict[str, Any],
        checked: bytes | None = None,
        slots: Slots | None = None,
    ) -> None:
        self.skill = skill
        self.position = position
        self.id = f"{skill}.{position}"
        self.value = value
        if slots is None:
            given = value.get("annotations")
            slots = make_slots(given) if given else {}
        self.slots = slots
        self.template = template = {"skill_name": skill, **value, "hypothesis_id": self.id}
        template.pop("annotations", None)
        template["annotations"] = slot_values(slots) if slots else {}
        self._checked = checked
        self._encoded: bytes | None = None

    def annotated_copy(self, name: str, reply: Plain, order: Order) -> DraftHypothesis:
        """Return the hypothesis with a candidate annotator's slot filled."""
        slots = fill_slot(self.slots, name, reply, order)
        return DraftHypothesis(self.skill, self.position, self.value, self._checked, slots)

    @property
    def json_bytes(self) -> bytes:
        """The agent state of the hypothesis as JSON."""
        if self._encoded is None:
            self._encoded = b'%b,"annotations":%b}' % (self._front(), encoded_slots(self.slots))
        return self._encoded

    def _front(self) -> bytes:
        """Return the JSON object up to its annotations, from the checked bytes if possible."""
        if self._checked is None or not _RESERVED.isdisjoint(self.value):
            front = {**self.template}
            del front["annotations"]
            return encode(front)[:-1]
        name, members, own = _encoded_name(self.skill), self._checked[1:-1], encode(self.id)
        return b'{"skill_name":%b,%b,"hypothesis_id":%b' % (name, members, own)


class DraftReply(msgspec.Struct, kw_only=True):
    """The reply so far; `by` names its origin.

    - `messages` and `ask` are in the attributes as well.
    - `silent`: the reply is not spoken.
    - `said_at` is the time of its first words.
    """

    by: str
    text: str
    orig_text: str
    active_skill: str
    confidence: float
    chosen: list[str]
    attributes: bytes
    annotations: Slots
    messages: list[dict[str, Any]] = []
    ask: str | None = None
    silent: bool = False
    said_at: str = ""

    @property
    def says_something(self) -> bool:
        """Whether the reply has words or messages."""
        return bool(self.text.strip() or self.messages)


class Draft:
    """A turn's additions to a dialog so far.

    `changes` counts the writes. `speakers` are the hypotheses of the reply, `previous_reply` is the
    body of the bot utterance before this turn, if this turn has annotated it. `human` and `bot` are
    the profiles if the turn has changed them, `newest_human` and `newest_bot` the current profiles
    in any case. `human_before_reset` is the person's profile before the turn first replaced all its
    attributes.
    """

    def __init__(self, opened: OpenedTurn, order: Order, skills: list[str]) -> None:
        self.opened = opened
        self.changes = 0
        self.reply: DraftReply | None = None
        self.human: NewProfileVersion | None = None
        self.bot: NewProfileVersion | None = None
        self.newest_human: ProfileVersion | NewProfileVersion = opened.human
        self.newest_bot: ProfileVersion | NewProfileVersion = opened.bot
        self.speakers: list[DraftHypothesis] = []
        self.abstained = False
        self.human_before_reset: ProfileVersion | NewProfileVersion | None = None
        self.previous_reply: bytes | None = None
        self.annotation_slots: Slots = {}
        self._order = order
        self._hypotheses: dict[str, list[DraftHypothesis]] = {skill: [] for skill in skills}
        self._drafted: list[DraftHypothesis] | None = None
        self._learned: list[dict[str, Any]] = []
        self._known: dict[str, Any] = {}

    # -- what is known so far ---------------------------------------------------------------

    def all_hypotheses(self) -> list[DraftHypothesis]:
        """Return all hypotheses, in declared order of the skills; callers never change the list."""
        if self._drafted is None:
            self._drafted = list(chain.from_iterable(self._hypotheses.values()))
        return self._drafted

    def skill_hypotheses(self, skill: str) -> list[DraftHypothesis]:
        """Return the hypotheses of a skill."""
        return self._hypotheses[skill]

    def hypotheses(self) -> list[dict[str, Any]]:
        """Return a copy of the agent state of all hypotheses."""
        return [copied(hypothesis.template) for hypothesis in self.all_hypotheses()]

    def find(self, hypothesis_id: str) -> DraftHypothesis | None:
        """Return the hypothesis with an id, None if it does not exist."""
        each = self._hypotheses.get(hypothesis_id.rpartition(".")[0], [])
        return next((one for one in each if one.id == hypothesis_id), None)

    def chosen_hypotheses(self, choice: SelectorChoice) -> list[DraftHypothesis]:
        """Return the hypotheses chosen by a response selector."""
        if choice.named is not None:
            hypotheses = [self.find(one) for one in choice.named]
            return [candidate for candidate in hypotheses if candidate is not None]
        every = self.all_hypotheses()
        of_skill = [
            hypothesis for hypothesis in every if hypothesis.skill == choice.skill_name
        ] or [
            hypothesis
            for hypothesis in every
            if hypothesis.value.get("skill_name") == choice.skill_name
        ]
        for candidate in of_skill:
            if candidate.value["text"] == choice.text:
                return [candidate]
        return [max(of_skill, key=lambda c: c.value["confidence"])] if of_skill else []

    def final_reply(self) -> DraftReply:
        """Return the reply; the turn must have it by now."""
        assert self.reply is not None, "nothing has been said yet"
        return self.reply

    def annotations(self) -> dict[str, Any]:
        """Return a copy of the annotations of the human utterance."""
        return copied(slot_values(self.annotation_slots))  # type: ignore[no-any-return]

    # -- slots ------------------------------------------------------------------------------

    def annotate(self, name: str, reply: Plain) -> None:
        """Fill an annotator's slot of the human utterance."""
        self.annotation_slots = fill_slot(self.annotation_slots, name, reply, self._order)
        self.changes += 1

    def annotate_previous_reply(self, name: str, reply: Plain) -> None:
        """Fill an annotator's slot of the bot utterance before this turn, if it exists."""
        window = self.opened.window
        places = [place for place, utterance in enumerate(window) if utterance.by_bot]
        if not places:
            return
        place = places[-1]
        body = decode(window[place].body)
        body["annotations"] = {**body["annotations"], name: reply.value}
        self.previous_reply = encode(body)
        changed = msgspec.structs.replace(window[place], body=self.previous_reply)
        window = [*window[:place], changed, *window[place + 1 :]]
        self.opened = msgspec.structs.replace(self.opened, window=window)
        self.changes += 1

    def hypothesize(self, skill: str, given: list[SkillReply]) -> None:
        """Fill a skill's slot."""
        slot = self._hypotheses[skill] = []
        for position, one in enumerate(given):
            slot.append(DraftHypothesis(skill, position, one.value, one.checked))
        self._drafted = None
        self.changes += 1

    def kept_hypotheses(self) -> dict[str, list[DraftHypothesis]]:
        """Return the hypotheses of each skill, to be restored later."""
        return {**self._hypotheses}

    def restore_hypotheses(self, kept: dict[str, list[DraftHypothesis]]) -> None:
        """Put hypotheses back into the slots of their skills."""
        self._hypotheses = kept
        self._drafted = None
        self.changes += 1

    def withdraw(self, skill: str) -> None:
        """Empty the slot of a skill asked but not selected in the end."""
        self._hypotheses[skill] = []
        self._drafted = None
        self.changes += 1

    def annotate_hypothesis(self, hypothesis: DraftHypothesis, name: str, reply: Plain) -> None:
        """Fill a candidate annotator's slot of a hypothesis, unless the hypothesis is gone."""
        each = self._hypotheses[hypothesis.skill]
        if hypothesis.position < len(each):
            now = each[hypothesis.position]
            each[hypothesis.position] = now.annotated_copy(name, reply, self._order)
            self._drafted = None
            self.changes += 1

    def choose(
        self,
        choice: SelectorChoice,
        max_attributes: int,
        fault: Fault,
        *,
        carries: bool = True,
        chosen: list[DraftHypothesis] | None = None,
    ) -> None:
        """Make a response selector's choice the reply.

        The chosen hypotheses are the named hypotheses; without names, the first with an equal skill
        and text, or the most confident hypothesis of the skill. Their attributes update the
        profiles in the order of naming, then the selector's own attributes. Unless the choice
        `carries` the contents of the hypotheses, the selector's own words alone count. `chosen` are
        the chosen hypotheses, if the caller knows them already.
        """
        if chosen is None:
            chosen = self.chosen_hypotheses(choice)
        self.speakers = chosen
        first = chosen[0].value if chosen and carries else {}
        attributes = first.get("attributes") if choice.attributes is None else choice.attributes
        messages = choice.messages
        if messages is None:
            messages = first.get("messages")
            if messages and choice.text != first["text"]:
                messages = rewrite_messages(messages, choice.text)
        ask = choice.ask if choice.ask is not None else first.get("ask")
        annotations: Slots = {}
        if choice.annotations is not None:
            annotations = make_slots(choice.annotations)
        elif len(chosen) == 1 and carries:
            annotations = chosen[0].slots
        own = {
            "human_attributes": choice.human_attributes,
            "bot_attributes": choice.bot_attributes,
        }
        values = [one.value for one in chosen] if carries else []
        if carried := _told(chosen) if carries else {}:
            attributes = {**carried, **(attributes or {})}
        self._learn([*self._learned, *values, own], max_attributes, fault)
        skill = choice.skill_name
        if chosen and skill not in self._hypotheses:  # a name that the hypothesis gave itself
            skill = chosen[0].skill
        self._speak(
            DraftReply(
                by="selector",
                text=choice.text,
                orig_text=choice.text,
                active_skill=skill,
                confidence=choice.confidence,
                chosen=[one.id for one in chosen],
                attributes=encode(reply_attributes(attributes, messages, ask)),
                annotations=annotations,
                messages=messages or [],
                ask=ask,
            )
        )

    def choose_most_confident(
        self, preferred: str | None, margin: float, max_attributes: int, fault: Fault
    ) -> bool:
        """Make the most confident hypothesis the reply, ties by declared order.

        `preferred` is the skill to win unless another skill is more confident by more than
        `margin`. Return False without a good enough hypothesis.
        """
        candidates = self.all_hypotheses()
        if not candidates or self.abstained:
            return False
        best = candidates[0]
        if len(candidates) > 1:
            best = max(
                [candidate for candidate in candidates if _says_something(candidate)] or candidates,
                key=lambda c: c.value["confidence"] + (margin if c.skill == preferred else 0.0),
            )
        choice = SelectorChoice(
            skill_name=best.skill,
            text=best.value["text"],
            confidence=best.value["confidence"],
        )
        self.choose(choice, max_attributes, fault, chosen=[best])
        if self.reply is not None:
            self.reply.by = "confidence"
        return True

    def say(
        self,
        by: str,
        skill: str,
        text: str,
        annotations: dict[str, Any],
        attributes: dict[str, Any] | None = None,
        confidence: float = 0.0,
    ) -> None:
        """Reply without a hypothesis: with the words of the last chance, or the fallback text."""
        self.speakers = []
        self._speak(
            DraftReply(
                by=by,
                text=text,
                orig_text=text,
                active_skill=skill,
                confidence=confidence,
                chosen=[],
                attributes=encode(attributes or {}),
                annotations=make_slots(annotations),
            )
        )

    def abstain(self) -> None:
        """Note the lack of a good enough hypothesis."""
        self.abstained = True

    def say_own_words(self, words: DirectReply, attributes: dict[str, Any] | None = None) -> None:
        """Reply with the assistant's own words; without messages, the reply is silent."""
        messages = words.messages
        texts = [message["text"] for message in messages if message["type"] == "text"]
        text = texts[0] if texts else plain_text(messages)
        rich = words.ask is not None or len(messages) > len(texts[:1])
        reply_values = reply_attributes(attributes, messages if rich else None, words.ask)
        self.say(ITSELF, words.skill, text, {}, reply_values)
        reply = self.final_reply()
        reply.messages, reply.ask, reply.silent = messages, words.ask, not messages

    def show(
        self, messages: list[dict[str, Any]], ask: str | None, asked_by: str | None = None
    ) -> None:
        """Replace the messages and the ask of the reply; its texts stay.

        `asked_by`: the skill whose open question this reply repeats; "" if a program asked it.
        """
        reply = self.final_reply()
        reply.messages, reply.ask = messages, ask
        own = decode(reply.attributes)
        own = own if asked_by is None else {**own, "asked_by": asked_by}
        reply.attributes = encode(reply_attributes(own, messages, ask))
        self.changes += 1

    def rewrite(self, text: str) -> None:
        """Replace the text of the reply and its first text message; `orig_text` stays."""
        reply = self.final_reply()
        if reply.messages:
            self.show(rewrite_messages(reply.messages, text), reply.ask)
        reply.text = text
        self.changes += 1

    def know(self, attributes: dict[str, Any], max_attributes: int, fault: Fault) -> None:
        """Take the person's attributes from the client; services see them in this turn already."""
        self._known = attributes
        self._learn([], max_attributes, fault)

    def learn(self, value: dict[str, Any], max_attributes: int, fault: Fault) -> None:
        """Add attributes from outside of the reply, after all others."""
        if "attributes" in (value.get("human_attributes") or ()):
            self.human_before_reset = self.human_before_reset or self.newest_human
        self._learn([*self._learned, value], max_attributes, fault)
        self.changes += 1

    def annotate_reply(self, name: str, reply: Plain) -> None:
        """Fill a response annotator's slot of the bot utterance."""
        spoken = self.final_reply()
        spoken.annotations = fill_slot(spoken.annotations, name, reply, self._order)
        self.changes += 1

    # -- inside -----------------------------------------------------------------------------

    def _speak(self, reply: DraftReply) -> None:
        reply.said_at = timestamp()
        self.reply = reply
        self.changes += 1

    def _learn(self, every: list[dict[str, Any]], max_attributes: int, fault: Fault) -> None:
        """Change both profiles by the attributes of each value, in order."""
        self._learned = every
        for_human: list[dict[str, Any] | None] = [self._known]
        for_bot = []
        for value in every:
            for_human.append(value.get("human_attributes"))
            for_bot.append(value.get("bot_attributes"))
        if any(for_human):
            self.human = _next_version(self.opened.human, for_human, max_attributes, fault)
            self.newest_human = self.human or self.opened.human
            self.changes += 1
        if any(for_bot):
            self.bot = _next_version(self.opened.bot, for_bot, max_attributes, fault)
            self.newest_bot = self.bot or self.opened.bot
            self.changes += 1


def _next_version(
    version: ProfileVersion,
    attributes: list[dict[str, Any] | None],
    max_attributes: int,
    fault: Fault,
) -> NewProfileVersion | None:
    changed = changed_profile(version.state, attributes, max_attributes, fault)
    if changed is None:
        return None
    state, changes = changed
    return NewProfileVersion(number=version.number + 1, state=state, changes=changes)


def _says_something(candidate: DraftHypothesis) -> bool:
    return bool(candidate.value["text"].strip() or candidate.value.get("messages"))


def _told(chosen: list[DraftHypothesis]) -> dict[str, Any]:
    """Return the chosen hypotheses' notes for the next turn, and their skills if several."""
    members: dict[str, Any] = {}
    for one in chosen:
        if isinstance(named := one.value.get("entities"), list | dict):
            listed = (
                named
                if isinstance(named, list)
                else [{"text": text, "type": kind} for kind, text in named.items()]
            )
            members.setdefault("entities", []).extend(listed)
        if isinstance(slots := one.value.get("continue"), dict):
            members.setdefault("continue", {}).update(slots)
    if len(chosen) > 1:
        skills = list(dict.fromkeys(one.skill for one in chosen))
        return {**members, "skills": skills} if len(skills) > 1 else members
    return members


def reply_attributes(
    own: dict[str, Any] | None, messages: list[dict[str, Any]] | None, ask: str | None
) -> dict[str, Any]:
    """Return the attributes of a reply, including its messages and ask if it has them."""
    if not own and not messages and ask is None:
        return {}
    attributes = {key: value for key, value in (own or {}).items() if key not in _RICH}
    if messages:
        attributes["messages"] = messages
    if ask is not None:
        attributes["ask"] = ask
    return attributes


def rewrite_messages(messages: list[dict[str, Any]], text: str) -> list[dict[str, Any]]:
    """Return messages with another first text."""
    for place, message in enumerate(messages):
        if message["type"] == "text":
            return [*messages[:place], {**message, "text": text}, *messages[place + 1 :]]
    return messages
