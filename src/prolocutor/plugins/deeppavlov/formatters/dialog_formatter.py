"""A dialog formatter of DREAM: a function, and how much of a dialog it reads."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import msgspec

State = dict[str, Any]
"""A dialog or an utterance as DeepPavlov Agent writes it, with free annotations inside."""

Format = Callable[..., list[Any]]
"""`(dialog, **kwargs) -> requests`, with one call of the service for each request.

With `counts` or `skills` the second argument is an `EarlierDialog`.

The dialog is never changed. The requests share parts with it, so they are to be encoded before it
changes.
"""


class EarlierDialog(msgspec.Struct, frozen=True):
    """The facts that formatters read of the utterances before the window.

    If the window is the whole dialog, this is `NOTHING_EARLIER`.
    """

    utterances: int = 0
    human_utterances: int = 0
    active_skills: Sequence[str] = ()  # of the bot utterances, in order


NOTHING_EARLIER = EarlierDialog()


class DialogFormatter(msgspec.Struct, frozen=True):
    """A dialog formatter and its window, which ends with the new human utterance."""

    name: str
    format: Format
    window: int | None = 1  # utterances, None for the whole dialog
    repeats: bool = False  # each `#repeat` in a text of the window asks for two utterances more
    hypotheses: bool = False  # hypotheses of earlier human utterances, too
    counts: bool = False  # `EarlierDialog.utterances` and `human_utterances`
    skills: bool = False  # `EarlierDialog.active_skills`

    @property
    def widest(self) -> int | None:
        """The largest number of utterances that the formatter may read, None for the whole
        dialog.
        """
        return self.window if self.window is None or not self.repeats else 3 * self.window

    def requests(self, dialog: State, earlier: EarlierDialog, **options: Any) -> list[Any]:
        """Return the requests about a dialog."""
        more = (earlier,) if self.counts or self.skills else ()
        return self.format(dialog, *more, **options)


FORMATTERS: Final[dict[str, DialogFormatter]] = {}
"""All dialog formatters by their names in a DREAM pipeline."""


def named(name: str, *, turns: int | None = None, **reads: Any) -> Callable[[Format], Format]:
    """Add a function to the formatters, by its name in DREAM.

    It reads `turns` whole turns, and more where `#repeat` asks for them, or what `reads` says.
    """
    if turns is not None:
        reads |= {"window": turns_window(turns), "repeats": True}

    def add(format: Format) -> Format:
        FORMATTERS[name] = DialogFormatter(name, format, **reads)
        return format

    return add


def turns_window(turns: int) -> int:
    """Return the number of utterances of `turns` whole turns and the new human utterance."""
    return 2 * turns + 1
