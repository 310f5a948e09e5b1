"""Catalog: things by name, each imported when it is first asked for.

Connectors, channels, stores, routers, rankers and data sets are such catalogs, each a table in its
own package. Another package adds to one through an entry point in the catalog's group.
"""

from __future__ import annotations

import importlib
import inspect
import re
from collections.abc import Callable, Mapping
from importlib.metadata import EntryPoint, entry_points
from typing import Any, Final, Generic, TypeVar, cast, get_type_hints

import msgspec

from prolocutor.errors import BadInput, ConfigError, MissingExtra, ProlocutorError
from prolocutor.names import did_you_mean, suggest

T = TypeVar("T")
Made = TypeVar("Made")

_EXPECTED: Final = re.compile(r"Expected `(.+?)`")
_KINDS: Final = {
    "str": "a text",
    "int": "a whole number",
    "float": "a number",
    "bool": "true or false",
    "array": "a list",
    "object": "a map",
}


class CatalogEntry(msgspec.Struct, frozen=True):
    """Where a named thing lives, `module:attribute`, and the extra that it is installed by."""

    target: str
    extra: str | None = None


class Catalog(Generic[T]):
    """Named things of type `T`: ours by the table `entries`, others by entry points of `group`.

    `what` is what one of them is called in errors, `key` the setting or field that names it.
    Unknown names raise `error`.
    """

    def __init__(
        self,
        what: str,
        entries: Mapping[str, str | CatalogEntry],
        *,
        group: str,
        key: str | None = None,
        error: type[ConfigError | BadInput] = ConfigError,
    ) -> None:
        self.entries = {
            name: CatalogEntry(entry) if isinstance(entry, str) else entry
            for name, entry in entries.items()
        }
        self.group = group
        self._what = what
        self._key = key
        self._error = error

    def names(self) -> list[str]:
        """Return all names: ours as the table has them, then those of installed packages."""
        installed = {point.name for point in entry_points(group=self.group)}
        return [*self.entries, *sorted(installed - self.entries.keys())]

    def load(self, name: str) -> T:
        """Import what has this name.

        An unknown name raises the catalog's error with a suggestion, a library that is not
        installed `MissingExtra`, anything else that keeps it from being imported `ConfigError`.
        """
        if entry := self.entries.get(name):
            return self.imported(name, entry.target, entry.extra)
        for point in entry_points(group=self.group, name=name):
            return self.imported(name, point.value)
        raise self._fault(f"there is no {self._what} {name!r}; {suggest(name, self.names())}")

    def checked(self, name: str, /, *args: Any, **options: Any) -> T:
        """Import what has this name; raise the catalog's error if it does not take these."""
        found = self.load(name)
        signature = inspect.signature(cast(Callable[..., Any], found))
        what = f"the {self._what} {name!r} cannot be made: "
        try:
            signature.bind(*args, **options)
        except TypeError as error:
            raise self._fault(f"{what}{error}{_meant(options, signature)}") from None
        for option, value in options.items():
            if wrong := _mismatch(found, option, value):
                raise self._fault(f"{what}{option} should be {wrong}")
        return found

    def make(self: Catalog[Callable[..., Made]], name: str, /, *args: Any, **options: Any) -> Made:
        """Make one: call what has this name with these arguments, which are checked first."""
        return self.checked(name, *args, **options)(*args, **options)

    def imported(self, name: str, target: str, extra: str | None = None) -> T:
        """Import `module:attribute` on behalf of a name."""
        point = EntryPoint(name, target, self.group)
        try:
            found: Any = importlib.import_module(point.module)
            for attribute in filter(None, point.attr.split(".")):
                found = getattr(found, attribute)
        except ModuleNotFoundError as error:
            install = f": pip install 'prolocutor[{extra}]'" if extra else ""
            what = f"the {self._what} {name!r} needs {error.name!r}{install}"
            raise MissingExtra(what, key=self._key) from None
        except (ImportError, AttributeError) as error:
            what = f"the {self._what} {name!r} cannot be loaded: {error}"
            raise ConfigError(what, key=self._key) from error
        return cast(T, found)

    def _fault(self, what: str) -> ProlocutorError:
        if issubclass(self._error, BadInput):
            return self._error(what, field=self._key)
        return self._error(what, key=self._key)


def _meant(options: Mapping[str, Any], signature: inspect.Signature) -> str:
    """Return the known option that an unknown one was probably meant to be."""
    unknown = [one for one in options if one not in signature.parameters]
    hint = did_you_mean(unknown[0], signature.parameters) if unknown else None
    return f"; {hint}" if hint else ""


def _mismatch(made: object, option: str, value: object) -> str | None:
    """Return the type that an option should have, None if its value may be of that type.

    Numbers may stand for texts, and texts for numbers: variables of the environment are texts.
    """
    maker = cast(Any, made).__init__ if isinstance(made, type) else made
    try:
        hint = get_type_hints(maker).get(option, Any)
        msgspec.convert(value, hint, strict=False)
    except msgspec.ValidationError as error:
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        expected = _EXPECTED.match(str(error))
        if expected is None or (is_number and "str" in expected[1]):
            return None  # values that are none of several are the business of what is made
        kinds = [_KINDS.get(kind, kind) for kind in expected[1].split(" | ") if kind != "null"]
        return f"{' or '.join(kinds)}, not {value!r:.40}"
    except (TypeError, NameError):
        return None  # a type that is no JSON, such as a path
    return None
