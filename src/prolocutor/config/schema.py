"""The keys of a service in a file, and those of selectors by pairing."""

from __future__ import annotations

from typing import Any, Final

import msgspec

from prolocutor.bounds import bounds_of, words_of
from prolocutor.config.fields import (
    ChoiceField,
    FlagField,
    JsonField,
    ListField,
    NumberField,
    TableField,
    TextField,
)
from prolocutor.plan import pipeline as plan
from prolocutor.plan.pipeline import Breaker, Pipeline, Service


def _number(struct: type[msgspec.Struct], name: str, what: str, **words: Any) -> NumberField:
    """Return the kind of a numeric field, with the bounds that its Struct gives it."""
    bounds = bounds_of(struct, name)
    number = f"a whole number of {what}" if bounds.whole else f"a number{what and f' of {what}'}"
    return NumberField(
        what=f"{number} from 0 to 1" if (bounds.least, bounds.most) == (0, 1) else number,
        bounds=bounds,
        words=words,
    )


def _seconds(struct: type[msgspec.Struct], name: str) -> NumberField:
    return _number(struct, name, "seconds")


SERVICE_NAME: Final = TextField(what=plan.NAME_RULE, pattern=plan.SERVICE_NAME)

NAMES: Final = ListField(item=TextField(what="the name of a service or stage"), single=True)

SERVICE: Final = TableField(
    what="a service",
    also=("call",),
    keys={
        "name": SERVICE_NAME,
        "connector": TextField(what="the name of a connector"),
        "after": NAMES,
        "requires": NAMES,
        "timeout": _seconds(Service, "timeout"),
        "window": _number(Service, "window", "utterances", all=None),
        "formatter": TextField(what="a formatter's name or module:function"),
        "response_formatter": TextField(what="a formatter's name or module:function"),
        "fan_out": FlagField(),
        "wire": ChoiceField(words_of(Service, "wire")),
        "batch_size": _number(Service, "batch_size", "requests"),
        "retries": _number(Service, "retries", "attempts"),
        "max_in_flight": _number(Service, "max_in_flight", "calls"),
        "rerun": FlagField(),
        "rewrites": FlagField(),
        "inline": FlagField(),
        "together": FlagField(),
        "process": FlagField(),
        "breaker": TableField(
            keys={
                "failures": _number(Breaker, "failures", "failures"),
                "window": _seconds(Breaker, "window"),
                "cooldown": _seconds(Breaker, "cooldown"),
            },
            make=Breaker,
        ),
        "card": JsonField(),
        "icon": TextField(what="a file or URL"),
        "context": ChoiceField(words_of(Service, "context")),
        "formatter_options": JsonField(what="a map of arguments"),
        "label": TextField(what="the name of an annotation"),
        "writes": ChoiceField(words_of(Service, "writes")),
        "selects": FlagField(),
        "always": FlagField(),
        "empty": ChoiceField(words_of(Service, "empty")),
        "first_turn_attributes": JsonField(what="a map of attributes"),
        "mismatch": ChoiceField(words_of(Service, "mismatch")),
        "carries": ChoiceField(words_of(Service, "carries")),
        "format": ChoiceField(words_of(Service, "format")),
        "before_confidence": FlagField(),
        "lingers": _seconds(Service, "lingers"),
        "commit": ChoiceField(words_of(Pipeline, "commit")),
        "instead": TextField(what="a URL or module:function"),
        "worker": TextField(what="module:function or a URL"),
    },
    synonyms={
        "target": "call",
        "url": "call",
        "function": "call",
        "depends_on": "after",
        "previous_services": "after",
        "required_previous_services": "requires",
        "dialog_formatter": "formatter",
    },
)
"""A service without its `call`, which is read in `services.py`; the keys are `Service`'s fields."""
