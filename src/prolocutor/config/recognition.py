"""What is behind a URL: all connectors that can say are asked whether it is theirs."""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Sequence
from typing import Any, Final

import msgspec

from prolocutor.config.call_hints import call_hint
from prolocutor.config.url_probe import SECONDS, SharedProbe
from prolocutor.connectors.connector_catalog import CONNECTORS, SCHEMES, form_of, options_from
from prolocutor.connectors.parts.url import Url
from prolocutor.contracts.probe import FoundService
from prolocutor.errors import BadInput, ConfigError, ProlocutorError, printable
from prolocutor.plan.pipeline import Call

log = logging.getLogger(__name__)

LONGEST: Final = 15.0
"""Seconds that one connector has to find out."""


class NotRecognized(ProlocutorError):
    """Nothing that is known is behind a URL; `tried` says line by line what came of each try."""

    code = "not_recognised"

    def __init__(self, what: str, tried: Sequence[str]) -> None:
        super().__init__(what)
        self.tried = tried


async def recognize(
    url: str, *, key: str | None = None, connector: str | None = None
) -> FoundService:
    """Return what is behind a URL; raise `NotRecognized` if nothing is that is known.

    `key` is sent as a bearer token. Where a `connector` is named, it is taken to be that one's,
    whatever answers. `BadInput` for what is no URL.
    """
    try:
        given = Url.read(url)
    except ValueError as error:
        hint = call_hint(url) or str(error)
        raise BadInput(f"{url!r} is no URL of http, https, ws or wss; {hint}") from None
    probe = SharedProbe(given, key)
    try:
        if connector is not None:
            return await _take_for(connector, probe)
        if not await probe.is_there():
            what = f"nothing answers at {probe.tried[-1]}\n--as NAME adds it all the same"
            raise NotRecognized(what, probe.tried)
        kinds = _kinds_that_recognize(probe)
        found = await asyncio.gather(*(_ask(name, kind, probe) for name, kind in kinds.items()))
    finally:
        await probe.aclose()
    surest = max(filter(None, found), key=lambda one: one.certainty, default=None)
    if surest is None:
        raise NotRecognized(_refusal(probe), probe.tried)
    return surest


def _kinds_that_recognize(probe: SharedProbe) -> dict[str, Any]:
    """Return the options of all connectors that can say what is theirs, by name."""
    kinds = {}
    for name in CONNECTORS.names():
        try:
            kinds[name] = CONNECTORS.load(name)
        except ConfigError as error:  # a library that is missing
            probe.note(str(error))
    return {name: kind for name, kind in kinds.items() if hasattr(kind, "recognize")}


async def _ask(name: str, kind: Any, probe: SharedProbe) -> FoundService | None:
    """Ask one connector; one that fails does not keep the others from an answer."""
    try:
        async with asyncio.timeout(LONGEST):
            found: FoundService | None = await kind.recognize(probe)
    except TimeoutError:
        probe.note(f"{name}: not done within {LONGEST:g} s")
        return None
    except Exception as error:  # a plug-in of others
        log.debug("the connector %s cannot recognize %s", name, probe.given.shown, exc_info=True)
        probe.note(f"{name}: {error!r}")
        return None
    return None if found is None else _filled(found, name, kind, probe)


async def _take_for(name: str, probe: SharedProbe) -> FoundService:
    """Return what a connector of this name makes of the address, right or not."""
    kind = CONNECTORS.load(name)
    if form_of(kind).main != "url":
        raise BadInput(f"the connector {name} is not called by an address", field="as")
    found = await _ask(name, kind, probe) if hasattr(kind, "recognize") else None
    if found is None:
        note = "nothing was found there that says so"
        found = FoundService(what=f"taken for {name}", call=probe.url, notes=[note])
        found = _filled(found, name, kind, probe)
    options = found.call if isinstance(found.call, dict) else {"url": found.call}
    options_from(kind, Call("", name, options))  # which raises where it is not enough
    return found


def _filled(found: FoundService, name: str, kind: Any, probe: SharedProbe) -> FoundService:
    """Return it with its name, its connector, and the query of the address."""
    call: Any = found.call
    if isinstance(call, dict) and isinstance(call.get("url"), str):
        call = {**call, "url": probe.with_query(call["url"])}
    elif isinstance(call, str):
        call = probe.with_query(call)
    is_plain = isinstance(call, str) and _is_of_scheme(call, kind)
    return msgspec.structs.replace(
        found,
        what=printable(found.what),
        notes=[printable(note) for note in found.notes],
        call=call,
        name=_slug(found.name or f"{name}_{probe.given.host}"),
        connector=None if is_plain else name,
    )


def _is_of_scheme(call: str, kind: Any) -> bool:
    """Return whether an address without a name means this connector."""
    scheme = call.partition("://")[0]
    return scheme in SCHEMES.names() and SCHEMES.load(scheme) is kind


def _refusal(probe: SharedProbe) -> str:
    """Return in at most three lines that nothing was found, and what can be done."""
    lines = [f"nothing that is known is at {probe.given.shown}"]
    if probe.leads_to is not None:
        lines.append(f"it redirects to {probe.leads_to}: give that address")
    elif probe.is_refused:
        lines.append("it wants a key: name its variable by --key NAME")
    elif probe.is_late:
        lines.append(f"some requests had no answer in time, within {SECONDS:g} s")
    elif statuses := probe.statuses():
        lines.append(f"it answers with status {' or '.join(map(str, statuses))}")
    lines.append("--as NAME names its connector, --verbose shows what was tried")
    return "\n".join(lines)


def _slug(text: str) -> str:
    """Return a name for a service: small letters, digits and lines."""
    return re.sub(r"\W+", "_", text.lower()).strip("_")[:60] or "agent"
