"""Checks of inputs; they raise `BadInput`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Final

from msgspec.structs import replace

from prolocutor.dialog import plain, rounds
from prolocutor.dialog.inputs import OperatorAct, TurnInput
from prolocutor.errors import BadInput, BadReply, HandoverConflict, NotFound
from prolocutor.names import did_you_mean

MAX_NAME: Final = 500

_SURROGATE: Final = re.compile(r"[\ud800-\udfff]")


def checked_input(input: TurnInput, max_text: int, skills: Sequence[str]) -> TurnInput:
    """Return the checked input; a parsed one without a title gets its typed form as text."""
    check_words(input.text, max_text)
    check_name(input.user, "a user", "user_id")
    if input.dialog != "main":
        input = replace(input, dialog=checked_dialog(input.dialog))
    attributes: Any = input.attributes  # a caller may have given anything
    parsed: Any = input.parsed
    program: Any = input.program
    if not isinstance(attributes, dict):
        raise BadInput("attributes are an object", field="attributes")
    if attributes:
        _check_plain(attributes, "attributes")
    if input.request_id is not None:
        check_name(input.request_id, "a request id", "request_id")
    if input.skill is not None:
        _check_skill(input.skill, skills)
    if parsed is None and program is None:
        return input
    if parsed is not None and not isinstance(parsed, dict):
        raise BadInput("what comes parsed is an object", field="json")
    if program is not None and (not isinstance(program, str) or len(program) > max_text):
        raise BadInput(f"a program is a text of at most {max_text:,} characters", field="code")
    _check_plain([parsed, program], "json")
    if input.text:
        return input
    return replace(input, text=_as_typed(parsed) if program is None else f"\\t {program}")


def check_words(text: object, max_text: int) -> None:
    """Raise `BadInput` unless a value is a text of at most so many characters."""
    if not isinstance(text, str) or len(text) > max_text:
        raise BadInput(f"an input is a text of at most {max_text:,} characters", field="text")
    if not text.isascii():
        _check_text(text, "text")


def checked_dialog(dialog: str | None) -> str:
    """Return the name of a dialog, by default "main"."""
    if not dialog:
        return "main"
    check_name(dialog, "a dialog's name", "dialog")
    return dialog


def check_name(name: object, what: str, field: str) -> None:
    """Raise `BadInput` unless a value is a text of 1 to 500 characters; `what` describes it."""
    if not isinstance(name, str) or not 0 < len(name) <= MAX_NAME:
        raise BadInput(f"{what} is a text of 1 to {MAX_NAME} characters", field=field)
    if not name.isascii():
        _check_text(name, field)


def _check_skill(name: object, known: Sequence[str]) -> None:
    """Raise `NotFound` unless a value is the name of one of some skills."""
    if isinstance(name, str) and name in known:
        return
    close = did_you_mean(str(name), known)
    what = f"there is no skill {name!r:.80}" + (f"; {close}" if close else "")
    raise NotFound(f"{what}. The skills are: {', '.join(known)}", field="skill")


def _as_typed(parsed: dict[str, Any] | None) -> str:
    return "\\r " + plain.encode(parsed).decode()


def _check_text(text: str, field: str) -> None:
    """Raise `BadInput` for a lone surrogate; a search is cheaper than encoding the text."""
    if _SURROGATE.search(text):
        _check_plain(text, field)


def _check_plain(value: Any, field: str) -> None:
    try:
        plain.check(value)
    except BadReply as error:
        raise BadInput(str(error), field=field) from None


def check_act(round: bytes, act: OperatorAct) -> None:
    """Raise `HandoverConflict` if another operator has the dialog, or this operator has not."""
    now = rounds.decode(round).handover
    by = "" if now is None else now.by
    if by not in ("", act.by):
        raise HandoverConflict(f"{by} has this dialog", field="dialog")
    if not by and act.state != "taken":
        raise HandoverConflict("take the dialog over first", field="dialog")
