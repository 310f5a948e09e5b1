"""Calls an agent's function for a program."""

from collections.abc import Callable, Mapping
from typing import Any

Parameters = dict[str, Any]
Function = Callable[[dict[str, Any], Parameters], Any]
"""Gets the request and the parameters; gives results, or one."""


def call(request: dict[str, Any], functions: Mapping[str, Function]) -> Any:
    """Return the function's result, or an error message for an unknown function."""
    function = request["function"]
    found = functions.get(function["name"])
    if found is None:
        return {"error": f"there is no function {function['name']!r:.80}"}
    return found(request, function["parameters"])
