"""Catalog: what is installed by name, found by entry points, imported when it is first asked for.

An entry point is a line of a distribution's `pyproject.toml`, in the catalog's group:

    [project.entry-points."prolocutor.connectors"]
    weather = "my_package.weather:WeatherService [weather]"

The extra in brackets, if there is one, brings the libraries that the module needs.
"""

from __future__ import annotations

import inspect
import logging
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from importlib.metadata import (
    EntryPoint,
    EntryPoints,
    PackageNotFoundError,
    distribution,
    entry_points,
)
from typing import Any, Final, Generic, TypeVar, cast, get_type_hints

import msgspec

from prolocutor.errors import BadInput, ConfigError, MissingExtra, ProlocutorError
from prolocutor.names import did_you_mean, suggest

log = logging.getLogger(__name__)

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

_OURS: Final = "prolocutor"


class Catalog(Generic[T]):
    """Named things of type `T`: the entry points of `group`, those of Prolocutor first.

    `what` is the noun for them in errors, `key` the setting or field that names it, and
    `needs` the attributes that each must have. Unknown names raise `error`.
    """

    def __init__(
        self,
        what: str,
        group: str,
        *,
        key: str | None = None,
        error: type[ConfigError | BadInput] = ConfigError,
        needs: tuple[str, ...] = (),
    ) -> None:
        self.what = what
        self.group = group
        self._key = key
        self._needs = needs
        self._error = error

    def names(self) -> list[str]:
        """Return all names: those of Prolocutor, then those of other distributions."""
        return list(_points(self.group, tuple(sys.path)))

    def __contains__(self, name: str) -> bool:
        """Return whether there is an entry point `name`; nothing is imported."""
        path = tuple(sys.path)
        return name in _own_points(self.group, path) or name in _points(self.group, path)

    def load(self, name: str) -> T:
        """Import the entry point `name`.

        An unknown name raises the catalog's error with a suggestion, a library that is not
        installed `MissingExtra`, anything else that keeps it from being imported `ConfigError`.
        """
        loaded = self._import(self._find(name))
        for need in self._needs:
            if not hasattr(loaded, need):
                what = f"the {self.what} {name!r} has no {need!r}: {loaded!r} cannot be one"
                raise ConfigError(what, key=self._key)
        return cast(T, loaded)

    def import_all(self) -> Iterator[tuple[str, T]]:
        """Import all that can be imported, with their names.

        What needs a library that is not installed is left out; a broken one is so with a warning.
        """
        for name in self.names():
            try:
                yield name, self.load(name)
            except MissingExtra:
                continue
            except ConfigError as error:
                log.warning("%s", error.what)

    def place(self, name: str) -> str:
        """Return the `module:attribute` of an entry point without importing it."""
        return self._find(name).value.partition(" ")[0]

    def load_part(self, name: str, place: str) -> Any:
        """Import the `module:attribute` that an entry point needs; errors as those of `load`."""
        value = f"{place} [{','.join(self._find(name).extras)}]"
        return self._import(EntryPoint(name, value, self.group))

    def _find(self, name: str) -> EntryPoint:
        path = tuple(sys.path)
        point = _own_points(self.group, path).get(name) or _points(self.group, path).get(name)
        if point is None:
            raise self._fault(f"there is no {self.what} {name!r}; {suggest(name, self.names())}")
        return point

    def _import(self, point: EntryPoint) -> Any:
        named = f"the {self.what} {point.name!r}"
        try:
            return point.load()
        except ModuleNotFoundError as error:
            missing = error.name or ""
            if "." in missing and f"{point.module}.".startswith(f"{missing}."):
                distribution = _distribution(point) or _OURS
                what = (
                    f"{named} should be in {point.module!r}, which is not there: {distribution} was"
                    " installed from other files; install it again (in a checkout: make setup)"
                )
                raise ConfigError(what, key=self._key) from None
            install = ""
            if point.extras:
                distribution = _distribution(point) or _OURS
                install = f": pip install '{distribution}[{','.join(point.extras)}]'"
            what = f"{named} needs {error.name!r}{install}"
            raise MissingExtra(what, key=self._key) from None
        except Exception as error:  # a package of others may raise anything
            what = f"{named} cannot be loaded: {type(error).__name__}: {error}"
            raise ConfigError(what, key=self._key) from error

    def load_checked(self, name: str, /, *args: Any, **options: Any) -> T:
        """Import the entry point `name`; raise the catalog's error for arguments it lacks."""
        found = self.load(name)
        signature = inspect.signature(cast(Callable[..., Any], found))
        what = f"the {self.what} {name!r} cannot be made: "
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
        return self.load_checked(name, *args, **options)(*args, **options)

    def _fault(self, what: str) -> ProlocutorError:
        if issubclass(self._error, BadInput):
            return self._error(what, field=self._key)
        return self._error(what, key=self._key)


@lru_cache(maxsize=64)
def _points(group: str, path: tuple[str, ...]) -> Mapping[str, EntryPoint]:
    """Return the entry points of a group in all distributions on `sys.path`, ours first.

    Another distribution takes no name of ours.
    """
    own = _own_points(group, path)
    points = _installed_points(path).select(group=group)
    return {**own, **{point.name: point for point in points if point.name not in own}}


@lru_cache(maxsize=64)
def _own_points(group: str, path: tuple[str, ...]) -> Mapping[str, EntryPoint]:
    """Return the entry points of a group in our own distribution, which is found at once."""
    return {point.name: point for point in _own_distribution_points(path).select(group=group)}


@lru_cache(maxsize=4)
def _installed_points(path: tuple[str, ...]) -> EntryPoints:
    """Return all entry points on `sys.path`; reading them takes tens of milliseconds."""
    del path  # the key of the cache
    return cast(EntryPoints, entry_points())  # Python 3.11 has a class with the same `select`


@lru_cache(maxsize=4)
def _own_distribution_points(path: tuple[str, ...]) -> EntryPoints:
    del path  # the key of the cache
    try:
        return distribution(_OURS).entry_points
    except PackageNotFoundError:
        return EntryPoints()


def _distribution(point: EntryPoint) -> str:
    return "" if point.dist is None else point.dist.name


def _meant(options: Mapping[str, Any], signature: inspect.Signature) -> str:
    """Return the known option that an unknown one was probably meant to be."""
    unknown = [option for option in options if option not in signature.parameters]
    hint = did_you_mean(unknown[0], signature.parameters) if unknown else None
    return f"; {hint}" if hint else ""


def _mismatch(made: object, option: str, value: object) -> str | None:
    """Return the type that an option should have, None if its value may be of that type.

    Numbers may stand for texts, and texts for numbers: variables of the environment are texts.
    """
    is_data = isinstance(made, type) and issubclass(made, msgspec.Struct)
    maker = cast(Any, made).__init__ if isinstance(made, type) and not is_data else made
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
        return None  # a type that is not JSON, such as a path
    return None
