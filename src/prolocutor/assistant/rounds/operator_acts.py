"""What an operator may do with a dialog in the round that it is in."""

from __future__ import annotations

from prolocutor.dialog import rounds
from prolocutor.dialog.inputs import OperatorAct
from prolocutor.errors import HandoverConflict


def check_act(round: bytes, act: OperatorAct) -> None:
    """Raise `HandoverConflict` if another operator has the dialog, or this one has to take it."""
    now = rounds.decode(round).handover
    by = "" if now is None else now.by
    if by not in ("", act.by):
        raise HandoverConflict(f"{by} has this dialog", field="dialog")
    if not by and act.state != "taken":
        raise HandoverConflict("take the dialog over first", field="dialog")
