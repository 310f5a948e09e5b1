"""HandoverSettings: when a dialog goes back to the assistant, and what is said about it."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from prolocutor.bounds import PositiveSeconds, about


class HandoverSettings(msgspec.Struct, frozen=True, kw_only=True):
    """How dialogs are handed over to operators; in what is said, `{by}` is the operator's name."""

    idle: Annotated[
        PositiveSeconds, about("After so long without a word a dialog goes back to the assistant.")
    ] = 900.0
    webhook: Annotated[
        Annotated[str, Meta(pattern=r"https?://\S+")] | None,
        about("A URL to which each change is posted.", what="a URL"),
    ] = None
    waiting: Annotated[
        Literal["answer", "silent"],
        about("What the assistant does while a person is wanted and none has taken over."),
    ] = "answer"
    taken: Annotated[str, about("What is said when an operator takes over.")] = (
        "You are talking with a person now."
    )
    given: Annotated[str, about("What is said when the dialog goes back.")] = (
        "You are talking with the assistant again."
    )
    missed: Annotated[str, about("What is said when nobody took over in time.")] = (
        "Nobody is free at the moment, so I go on."
    )
