"""Replies that are more than a value: a selection of skills in waves, and effects."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import msgspec

from prolocutor.contracts.observer import LoggedChoice, Reason
from prolocutor.dialog.plain import JsonObject

MAX_REASON: Final = 10_000
"""Most characters of a reason."""

More = Callable[..., "Sequence[str] | Selection | Enough | None"]
"""Gets the hypotheses so far and the seconds left; a plain function, it must answer at once."""


def cut_quotes(reason: Reason) -> Reason:
    """Return a reason without its final brackets, which may quote a user."""
    return {**reason, "reason": reason["reason"].partition(" (")[0]}


def _check_reason(reason: object) -> None:
    """Raise `ValueError` for a reason unfit for records; functions return it unchecked."""
    if type(reason) is not str:
        raise TypeError("the reason of a selection is a text")
    if len(reason) > MAX_REASON:
        raise ValueError(f"a reason of {len(reason):,} characters, more than {MAX_REASON:,}")


class Enough(msgspec.Struct, frozen=True):
    """The end of a selection: no further answer is needed, with the reason."""

    reason: str = ""

    def __post_init__(self) -> None:
        _check_reason(self.reason)


enough: Final = Enough()
"""The value of `more` for no further answers; running skills are then cancelled."""


class Selection(msgspec.Struct, frozen=True):
    """The skills to call at once (`first`), the selection of further skills (`more`), the `reason`.

    `faults` are recorded as the selector's: faults that leave the selection of use.

    A quotation of a person stands in brackets at the end of the reason; records without personal
    data leave it out.

    Whenever a called skill settles, the engine calls `more(hypotheses_so_far, seconds_left)` with
    the agent state of all hypotheses so far, in declared order, and the seconds left for skills. A
    `more` with a parameter `settled` also gets the names of the skills that have settled, including
    failed skills. It returns further names (or a `Selection` of them, with its reason), nothing yet
    (None or an empty list), or `enough`. When no skill is running and `more` names none, the
    selection is over. `version` names the model that selected, for the turn's record, `choices` say
    with which probability each of `first` was chosen; without any, for sure.

    """

    first: list[str]
    more: More | None = None
    reason: str = ""
    version: str = ""
    faults: Sequence[str] = ()
    choices: Sequence[LoggedChoice] = ()

    def __post_init__(self) -> None:
        _check_reason(self.reason)
        if type(self.version) is not str:
            raise TypeError("the version of a selection is a text")
        if self.choices and not all(isinstance(choice, LoggedChoice) for choice in self.choices):
            raise TypeError("the choices of a selection are of the type LoggedChoice")
        if self.faults and not all(isinstance(fault, str) for fault in self.faults):
            raise TypeError("the faults of a selection are texts")


class Effects(msgspec.Struct, frozen=True, kw_only=True):
    """The effects of a reply beside filling its slot; a response formatter may return them.

    - `value`: the reply in the shape of its stage; an annotator without a value annotates nothing.
    - `previous`: an annotation of the bot utterance before this turn.
    - `hypotheses`: of a candidate annotator, an annotation for each hypothesis of its request, in
      their order.
    - `human_attributes` and `bot_attributes` change the profiles, which later services of the turn
      see.
    - `asks` names by label the services to ask among the services whose own `after` names this
      service; None: all of them.
    - `carries`: of a response selector, whether the attributes, annotations and messages of the
      chosen hypotheses go with the reply.
    """

    value: Any = msgspec.UNSET
    previous: Any = msgspec.UNSET
    hypotheses: Sequence[Any] | None = None
    human_attributes: JsonObject = {}
    bot_attributes: JsonObject = {}
    asks: Sequence[str] | None = None
    carries: bool = True
