"""`${NAME}` and `${NAME:-default}` in text, from the environment; `$${` is a plain `${`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

_VARIABLE: Final = re.compile(
    r"\$\$\{|\$\{(?P<name>[A-Za-z_][A-Za-z0-9_]*)(?P<or>:-(?P<default>[^}]*))?\}|\$\{"
)


class UnsetVariable(Exception):
    """A variable is not set and has no default, or `${` does not open a variable at all."""


def substitute(text: str, environ: Mapping[str, str]) -> str:
    """Fill in the variables of a text once; their values are not searched for variables.

    The default stands in for a variable that is unset or empty, as in a shell.
    """
    if "${" not in text:
        return text

    def value(match: re.Match[str]) -> str:
        if match[0] == "$${":
            return "${"
        name = match["name"]
        if name is None:
            raise UnsetVariable("`${` opens no variable name; write `$${` for a plain `${`")
        found = environ.get(name)
        if match["or"] is not None:
            return found or match["default"]
        if found is None:
            raise UnsetVariable(
                f"the environment variable {name} is not set; set it,"
                f" or give a default: ${{{name}:-...}}"
            )
        return found

    return _VARIABLE.sub(value, text)
