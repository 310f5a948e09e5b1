"""Dialogs as text: a table of several, or the transcript of one."""

from __future__ import annotations

from collections import Counter
from datetime import datetime

import msgspec
from rich.console import Console
from rich.table import Table
from rich.text import Text

from prolocutor.dialog.dialog import Dialog
from prolocutor.dialog.ids import parse_time
from prolocutor.dialog.utterances import BotUtterance, HumanUtterance

Utterance = HumanUtterance | BotUtterance


class DialogListRow(msgspec.Struct, frozen=True):
    """One dialog in a list."""

    id: str
    started: str
    user: str
    turns: int
    skills: str
    rating: str
    first: str


def list_row(dialog: Dialog) -> DialogListRow:
    """Return a dialog as a row of a list."""
    said = [one for one in dialog.utterances if isinstance(one, HumanUtterance)]
    spoke = Counter(
        one.active_skill
        for one in dialog.utterances
        if isinstance(one, BotUtterance) and one.active_skill
    )
    return DialogListRow(
        dialog.dialog_id,
        local(dialog.date_start),
        dialog.human.user_external_id,
        len(said),
        ", ".join(name for name, _ in spoke.most_common(3)),
        _rating(dialog.rating),
        said[0].text if said else "",
    )


HEADS = ("id", "started", "user", "turns", "answered", "rating", "first words")


def table(rows: list[DialogListRow], console: Console) -> None:
    """Print dialogs as a table."""
    shown = Table(box=None, pad_edge=False, header_style="dim")
    for head in HEADS:
        last = head == HEADS[-1]
        shown.add_column(
            head,
            justify="right" if head == "turns" else "left",
            no_wrap=head in ("id", "started") or last,
            overflow="ellipsis" if last else "fold",
        )
    for row in rows:
        shown.add_row(*map(Text, _cells(row)))
    console.print(shown)


def plain(rows: list[DialogListRow]) -> list[str]:
    """Return dialogs as lines with tabs between the columns."""
    return ["\t".join(" ".join(cell.split()) for cell in _cells(row)) for row in rows]


def head(dialog: Dialog) -> str:
    """Return a dialog's id, user, start, channel and state in one line."""
    parts = [
        f"dialog {dialog.dialog_id} of {dialog.human.user_external_id}",
        f"started {local(dialog.date_start)}",
        f"by {dialog.channel_type}",
        "open" if dialog.active else "closed",
    ]
    if dialog.rating is not None:
        parts.append(f"rated {_rating(dialog.rating)}")
    return ", ".join(parts)


def transcript(dialog: Dialog, *, ids: bool = False) -> list[Text]:
    """Return a line for each utterance: time, speaker, text; `ids` adds the utterances' ids."""
    names = [_speaker(one) for one in dialog.utterances]
    width = min(max(map(len, names), default=0), 24)
    return [
        _line(one, name, width, ids=ids) for one, name in zip(dialog.utterances, names, strict=True)
    ]


def _line(one: Utterance, name: str, width: int, *, ids: bool) -> Text:
    line = Text(f"{one.utt_id}  " if ids else "", style="dim")
    by_bot = isinstance(one, BotUtterance)
    line.append(f"{local(one.date_time, '%H:%M:%S')}  ", style="dim")
    line.append(f"{name:<{width}}  ", style="cyan" if by_bot else "bold")
    line.append(one.text, style="" if by_bot else "bold")
    notes = [f"{one.confidence:.3g}"] if isinstance(one, BotUtterance) else []
    ratings = one.attributes.get("ratings")
    if isinstance(ratings, list) and ratings and isinstance(ratings[-1], dict):
        notes.append(f"rated {_rating(ratings[-1].get('rating'))}")
    if notes:
        line.append(f"  ({', '.join(notes)})", style="dim")
    return line


def _speaker(one: Utterance) -> str:
    if isinstance(one, HumanUtterance):
        return one.user.user_external_id
    return one.active_skill or "(nobody)"


def _rating(rating: object) -> str:
    if rating is None:
        return ""
    return rating if isinstance(rating, str) else msgspec.json.encode(rating).decode()


def _cells(row: DialogListRow) -> tuple[str, ...]:
    return row.id, row.started, row.user, str(row.turns), row.skills, row.rating, row.first


def local(moment: str | None, form: str = "%Y-%m-%d %H:%M") -> str:
    """Return a time of the agent state as local time; "" for None."""
    if not moment:
        return ""
    return datetime.fromtimestamp(parse_time(moment)).astimezone().strftime(form)
