"""ModelInUse: a router or ranker of an assistant that is read from a folder, for who trains it."""

from __future__ import annotations

from typing import Any

import msgspec

from prolocutor.contracts.pairing import Card
from prolocutor.plugins.pairing.method_catalog import Role
from prolocutor.plugins.pairing.model_reloading import ReloadedModel
from prolocutor.plugins.pairing.rating_learner import RatingLearner


class ModelInUse(msgspec.Struct, frozen=True, kw_only=True):
    """What selects by a model, and the agents' `cards`.

    `learner` teaches it thumbs at once; None where it learns by training alone.
    """

    role: Role
    method: str
    source: ReloadedModel[Any]
    cards: list[Card]
    learner: RatingLearner | None = None
