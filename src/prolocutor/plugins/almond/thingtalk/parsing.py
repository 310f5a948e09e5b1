"""Parses ThingTalk, as source or as tokens. Lark and the grammars are imported at first use."""

from __future__ import annotations

import functools
import importlib
from collections.abc import Mapping, Sequence
from typing import Any, cast

from prolocutor.errors import MissingExtra
from prolocutor.plugins.almond.thingtalk.manifests import Class
from prolocutor.plugins.almond.thingtalk.nodes import MAX_BYTES, MAX_MANIFEST_BYTES, fault
from prolocutor.plugins.almond.thingtalk.tree import Program, Source


def parse(source: str) -> Source:
    """Read a program or a control command in either surface syntax.

    A common grammar holds the new syntax (2.x) and the old syntax (1.x, `now => ...`). Raise
    `ThingTalkError`, with line and column, if the source is neither, is too large, or has an
    unsupported construct; raise `MissingExtra` without Lark.
    """
    return cast(Source, _grammars().read_source(source, MAX_BYTES))


def parse_tokens(code: Sequence[str], entities: Mapping[str, Any] | None = None) -> Source:
    """Read a program in tokens: in the new form, else in the old form (`param:number:Number`).

    `entities` are the values of tokens such as `NUMBER_0`; a `SLOT_n` without a value is to be
    asked for. Positions are columns of the tokens joined by blanks. Raise `ThingTalkError` if the
    tokens are of neither form, from the form that got further.
    """
    return cast(Source, _grammars().read_tokens(code, entities or {}))


def parse_classes(source: str) -> tuple[Class, ...]:
    """Read manifests: a source of classes only; errors as for `parse`."""
    tree = _grammars().read_source(source, MAX_MANIFEST_BYTES)
    if not isinstance(tree, Program) or tree.statements:
        position = tree.statements[0].position if isinstance(tree, Program) else tree.position
        raise fault("this is not a manifest", position, "write class @org.prolocutor.skill { ... }")
    return tree.classes


def cut_tokens(source: str) -> list[Any]:
    """Tokenize a surface source, for the printer; errors as for `parse`."""
    return cast("list[Any]", _grammars().cut(source))


def warm_grammars() -> None:
    """Make both grammars, which takes up to a second; `MissingExtra` without Lark."""
    _grammars().grammar()
    _grammars().old_grammar()


@functools.cache
def _grammars() -> Any:
    try:
        return importlib.import_module("prolocutor.plugins.almond.thingtalk.grammars")
    except ModuleNotFoundError as error:
        if error.name != "lark":
            raise
        raise MissingExtra(
            "ThingTalk needs Lark: pip install 'prolocutor[almond]'", key="thingtalk"
        ) from None
