"""HandoverSettings: when a dialog goes back to the assistant, and what is said about it."""

from __future__ import annotations

from typing import Literal

import msgspec

from prolocutor.bounds import PositiveSeconds


class HandoverSettings(msgspec.Struct, frozen=True, kw_only=True):
    """How dialogs are handed over to operators.

    After `idle` seconds without a word a dialog goes back to the assistant. `webhook` is a URL to
    which each change is posted. While a person is wanted and none has taken over, the assistant
    goes on to `answer`, or is `silent`. `taken`, `given` and `missed` are said when an operator
    takes over, when the dialog goes back, and when nobody took over in time; `{by}` stands for the
    operator's name.
    """

    idle: PositiveSeconds = 900.0
    webhook: str | None = None
    waiting: Literal["answer", "silent"] = "answer"
    taken: str = "You are talking with a person now."
    given: str = "You are talking with the assistant again."
    missed: str = "Nobody is free at the moment, so I go on."
