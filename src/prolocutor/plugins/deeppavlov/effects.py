"""DeepPavlov Agent's treatment of replies as effects: formatters, and keys of services for them.

In a file a service has these keys; each stands for a response formatter of this module.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Annotated, Any, ClassVar, Final, Literal

import msgspec

from prolocutor.bounds import about
from prolocutor.contracts.selection import Effects
from prolocutor.dialog.plain import JsonObject
from prolocutor.dialog.turn_request import TurnRequest
from prolocutor.functions import resolve
from prolocutor.plan.formatters import either_formatter
from prolocutor.plan.stages import (
    Annotator,
    CandidateAnnotator,
    Formatter,
    ResponseSelector,
    SkillSelector,
    Stage,
    StageService,
)

MODULE: Final = "prolocutor.plugins.deeppavlov.effects"


class AnnotatorEffects:
    """Puts an annotator's reply into the place `annotates`.

    With `selects` the reply lists labels: of the services with the annotator in `after` only these
    are asked; an empty list: all are.
    """

    def __init__(self, annotates: str) -> None:
        self.annotates = annotates

    def __call__(self, reply: Any, *, selects: bool = False, **formatters: Any) -> Effects:
        """Return the effects of a reply."""
        reply = apply_formatter(reply, **formatters)
        changes = reply if self.annotates == "attributes" and isinstance(reply, dict) else {}
        return Effects(
            value=reply if self.annotates == "annotation" else msgspec.UNSET,
            previous=reply if self.annotates == "previous" else msgspec.UNSET,
            human_attributes=_get_changes(changes, "human_attributes"),
            bot_attributes=_get_changes(changes, "bot_attributes"),
            asks=(reply or None) if selects else None,
        )


def _get_changes(changes: JsonObject, key: str) -> JsonObject:
    given = changes.get(key)
    return given if isinstance(given, dict) else {}


annotation: Final = AnnotatorEffects("annotation")
previous_reply: Final = AnnotatorEffects("previous")
attributes: Final = AnnotatorEffects("attributes")
nothing: Final = AnnotatorEffects("nothing")


def first_turn(
    reply: Any, turn: TurnRequest, *, keeps: JsonObject, writes: str = "annotation", **options: Any
) -> Effects:
    """Apply the formatter `writes`; in a dialog's first turn the person `keeps` only these
    attributes.

    The values of `keeps` are defaults.
    """
    effects: Effects = _WRITING[writes](reply, **options)
    if turn["date_finish"] is not None:
        return effects
    known = turn.human.attributes | effects.human_attributes
    kept = {key: known.get(key) or usual for key, usual in keeps.items()}
    return msgspec.structs.replace(effects, human_attributes={"attributes": kept})


_WRITING: Final = {
    "annotation": annotation,
    "previous_reply": previous_reply,
    "attributes": attributes,
    "nothing": nothing,
}


def selection(reply: Any, **formatters: Any) -> Effects:
    """Let a skill selector name all that are asked, skills or not; nobody named: all are."""
    reply = apply_formatter(reply, **formatters)
    return Effects(value=reply, asks=reply or None)


def hypotheses(reply: Any, turn: TurnRequest, **formatters: Any) -> Effects:
    """Spread a reply over all hypotheses; a wrong number of items is empty for each hypothesis.

    A reply after the turn's own reply changes nothing.
    """
    reply = apply_formatter(reply, **formatters)
    if turn.reply is not None:
        return Effects()
    if isinstance(reply, dict) and isinstance(reply.get("batch"), list):
        reply = reply["batch"]
    number = len(turn.hypotheses)
    if not isinstance(reply, list):
        raise ValueError(f"expected a list of {number} items")
    return Effects(hypotheses=reply if len(reply) == number else [{}] * number)


def choice(reply: Any, **formatters: Any) -> Effects:
    """Keep only the response selector's own reply, without the hypothesis' other fields."""
    return Effects(value=apply_formatter(reply, **formatters), carries=False)


def apply_formatter(
    reply: Any,
    formatter: Formatter | str | None = None,
    both: Formatter | str | None = None,
    formatter_options: JsonObject | None = None,
) -> Any:
    """Return a reply in the form given by the service's own formatter."""
    own = _own_formatter(formatter, both)
    return reply if own is None else own(reply, **(formatter_options or {}))


@lru_cache(maxsize=1024)
def _own_formatter(
    formatter: Formatter | str | None, both: Formatter | str | None
) -> Formatter | None:
    return either_formatter(formatter, both, resolve)


class DreamKeys(msgspec.Struct, frozen=True, kw_only=True):
    """The keys that give a service the behaviour of DREAM's services."""

    stages: ClassVar[Mapping[str, Sequence[Stage]]] = {
        "writes": (Stage.ANNOTATOR,),
        "first_turn_attributes": (Stage.ANNOTATOR,),
        "selects": (Stage.ANNOTATOR, Stage.SKILL_SELECTOR),
        "mismatch": (Stage.CANDIDATE_ANNOTATOR,),
        "carries": (Stage.RESPONSE_SELECTOR,),
    }

    writes: Annotated[
        Literal["annotation", "previous_reply", "attributes", "nothing"],
        about(
            "The use of its reply: an annotation of the human utterance, an annotation "
            "of the reply before, `{human_attributes, bot_attributes}` that later "
            "services of the turn already see, or no use."
        ),
    ] = "annotation"
    first_turn_attributes: Annotated[
        JsonObject | None,
        about(
            "The only attributes that the person keeps when the service has finished in "
            "the first turn of a dialog; the values are defaults.",
            what="a map of attributes",
        ),
    ] = None
    selects: Annotated[
        bool,
        about(
            "Its reply is a list of labels: of the services whose own `after` names it those left"
            " out are skipped; null or `[]` leaves nobody out."
        ),
    ] = False
    mismatch: Annotated[
        Literal["fails", "empty"],
        about(
            "A `together` reply with another number of items fails, or is `{}` for each hypothesis;"
            " `empty` with `fan_out` says that the reply to each call is about all hypotheses, and"
            " the last counts; with `empty` nothing counts that comes after the reply was chosen."
        ),
    ] = "fails"
    carries: Annotated[
        Literal["all", "nothing"],
        about(
            "With the reply go the chosen hypothesis' attributes, annotations and messages, or only"
            " what the response selector says itself."
        ),
    ] = "all"

    def apply_to_service(self, service: StageService) -> StageService:
        """Return the service with the response formatter for these keys."""
        options: JsonObject = {}
        match service:
            case Annotator():
                name: str = self.writes
                if self.selects:
                    options["selects"] = True
                if self.first_turn_attributes is not None:
                    name, options["keeps"] = "first_turn", self.first_turn_attributes
                    options |= {} if self.writes == "annotation" else {"writes": self.writes}
                if name == "annotation" and not options:
                    return service
            case SkillSelector() if self.selects:
                name = "selection"
            case CandidateAnnotator() if self.mismatch == "empty":
                name = "hypotheses"
            case ResponseSelector() if self.carries == "nothing":
                name = "choice"
            case _:
                return service
        if service.response_formatter is not None:
            options["formatter"] = service.response_formatter
        elif service.formatter is not None:
            options["both"] = service.formatter
        if service.response_formatter_options is not None:
            options["formatter_options"] = service.response_formatter_options
        return msgspec.structs.replace(
            service,
            response_formatter=f"{MODULE}:{name}",
            response_formatter_options=options or None,
        )
