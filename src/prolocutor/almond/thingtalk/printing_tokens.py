"""The tree of a program as tokens of the new form, with its texts as entities."""

from __future__ import annotations

from typing import Any

from prolocutor.almond.thingtalk.parsing import tokens_of
from prolocutor.almond.thingtalk.printing import show
from prolocutor.almond.thingtalk.tree import Source


def show_tokens(tree: Source) -> tuple[list[str], dict[str, Any]]:
    """Return a program or a control command as tokens and entities; `parse_tokens` reads them.

    Texts are entities `QUOTED_STRING_n`, the same text always the same one; all else stands in
    the tokens themselves. `MissingExtra` without Lark.
    """
    entities: dict[str, Any] = {}
    names: dict[str, str] = {}
    code = []
    for token in tokens_of(show(tree)):
        if token.type == "STRING":
            name = names.setdefault(token.value, f"QUOTED_STRING_{len(names)}")
            entities[name] = token.value
            code.append(name)
        else:
            code.append(str(token))
    return code, entities
