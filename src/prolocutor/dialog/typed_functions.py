"""Functions that declare a `TurnRequest`: they are called with one instead of a plain dict."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Sequence
from types import UnionType
from typing import Annotated, Any, Final, Union, get_args, get_origin

from prolocutor.dialog.turn_request import TurnRequest


def taking_dicts(target: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that takes plain dicts and gives `target` what it declares.

    One whose first parameter is a `TurnRequest` (or a list of them) gets such; any other function
    is returned as it is. To be called once for each service. Where `takes_requests`, a second
    argument is what `TurnRequest.say` calls.
    """
    declared = _declared(target)
    if declared is TurnRequest:
        return lambda request, say=None: target(TurnRequest(request, say))
    if get_origin(declared) in (list, Sequence) and get_args(declared) == (TurnRequest,):
        return lambda requests: target([TurnRequest(one) for one in requests])
    return target


def takes_requests(target: Callable[..., Any]) -> bool:
    """Return whether a function's first parameter is a `TurnRequest`."""
    return _declared(target) is TurnRequest


def _declared(target: Callable[..., Any]) -> Any:
    """Return the type of the first parameter; None if there is none that can be known."""
    try:
        try:
            signature = inspect.signature(target, eval_str=True)
        except NameError:  # a name that is imported for the type checker alone
            signature = inspect.signature(target)
    except Exception:  # the annotations of a foreign function may raise anything
        return None
    parameters = list(signature.parameters.values())
    written = parameters[0].annotation if parameters else None
    if isinstance(written, str):
        return _BY_NAME.get(_MODULES.sub("", written))
    return _unwrapped(written)


def _unwrapped(declared: Any) -> Any:
    """Return the type within `Annotated[...]` and `... | None`; any other as it is."""
    if get_origin(declared) is Annotated:
        return _unwrapped(get_args(declared)[0])
    if get_origin(declared) in (Union, UnionType):
        some = [one for one in get_args(declared) if one is not type(None)]
        return _unwrapped(some[0]) if len(some) == 1 else declared
    return declared


_MODULES: Final = re.compile(r"\s|\w+\.")
_BY_NAME: Final = {
    "TurnRequest": TurnRequest,
    "list[TurnRequest]": list[TurnRequest],
    "Sequence[TurnRequest]": list[TurnRequest],
}
