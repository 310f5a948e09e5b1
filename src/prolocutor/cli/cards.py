"""Cards: what is known of the agents, from a JSON file or from an assistant's file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from prolocutor.config.load import load
from prolocutor.contracts.pairing import Card
from prolocutor.errors import BadInput, ConfigError


def cards_in(file: Path | None) -> list[Card]:
    """Read a JSON list of cards; none without a file."""
    if file is None:
        return []
    try:
        return msgspec.json.decode(file.read_bytes(), type=list[Card])
    except OSError as error:
        raise BadInput(f"{file}: {error.strerror}", field="cards") from None
    except msgspec.MsgspecError as error:
        raise BadInput(f"{file}: {error}", field="cards") from None


def cards_of(assistant: Path) -> list[Card]:
    """Give the cards of an assistant's skills, of those too that tell nothing of themselves."""
    settings = load(assistant)
    return [_card(one.name, one.card or {}, assistant) for one in settings.pipeline.skills]


def _card(name: str, told: dict[str, Any], file: Path) -> Card:
    try:
        return msgspec.convert({**told, "name": name}, Card)
    except msgspec.ValidationError as error:
        raise ConfigError(str(error), file=str(file), key=f"skills.{name}.card") from None
