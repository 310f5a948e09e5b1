"""Replaces secrets, ids and times in cassettes.

Secrets are recognized by the names of their keys, by their values (environment variables with such
names, and answers to asks for a password), and by the usual form of API keys.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from prolocutor.dialog.plain import decode, encode

SECRET: Final = "<secret>"
TIME: Final = "<time>"
ID: Final = "<id>"

_LAST_WORDS: Final = frozenset(
    "key keys token tokens secret secrets password passwords passwd pwd credential credentials "
    "authorization cookie cookies bearer passphrase signature".split()
)
_LAST_LETTERS: Final = tuple(f"{one}token" for one in "auth access bot bearer refresh id".split())
_ANYWHERE: Final = ("apikey", "accesskey", "privatekey", "secret", "password")
"""What names of secrets have as their last word, at their end, and anywhere; in lower case."""

_VARIABLE: Final = re.compile(r"(?i)key|token|secret|passw|credential|auth")
_KEYS: Final = re.compile(
    r"\b(?:sk|pk|rk)-[A-Za-z0-9_\-]{16,}|\bgh[pousr]_[A-Za-z0-9]{20,}|\bAKIA[0-9A-Z]{16}\b"
    r"|\bxox[abprs]-[A-Za-z0-9\-]{10,}|\beyJ[\w\-]{8,}\.[\w\-]{8,}\.[\w\-]+",
    re.IGNORECASE,
)
_IN_ADDRESSES: Final = re.compile(
    r"(?<=[Bb]earer )[A-Za-z0-9._~+/\-]{8,}=*|(?<=[Bb]asic )[A-Za-z0-9+/]{8,}=*"
    r"|(?<=://)[^/\s:@]*:[^/\s@]+(?=@)"
    r"|(?<=[?&])(?:[\w\-]*(?:key|token|secret|password))=[^&#\s\"]+",
    re.IGNORECASE,
)
_SUSPECT: Final = (
    *(b"key", b"token", b"secret", b"passw", b"passphrase", b"pwd", b"credential", b"authoriz"),
    *(b"cookie", b"bearer", b"basic ", b"signature", b"@", b"sk-", b"pk-", b"rk-", b"akia", b"xox"),
    *(b"ghp_", b"gho_", b"ghu_", b"ghs_", b"ghr_", b"eyj"),
)
"""What JSON with a secret has somewhere, in lower case."""

_SHORTEST: Final = 6
"""Characters of the shortest value of a variable that is taken for a secret."""

_ID: Final = re.compile(rb"(?<![0-9a-f])[0-9a-f]{32}(?![0-9a-f])")
_TIME: Final = re.compile(rb"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{6}")


class Redaction:
    """Replaces secrets in recorded values; `environ` are variables that may contain secrets."""

    def __init__(self, environ: Mapping[str, str] = os.environ) -> None:
        self._values: set[str] = set()
        self._pattern: re.Pattern[str] | None = None
        for name, value in environ.items():
            if _VARIABLE.search(name) and not value.startswith(("/", ".")):
                self.know(value, shortest=_SHORTEST)

    def know(self, value: str, shortest: int = 1) -> None:
        """Replace a value everywhere from now on."""
        if len(value) >= shortest and value not in self._values and value != SECRET:
            self._values.add(value)
            longest_first = sorted(self._values, key=len, reverse=True)
            self._pattern = re.compile("|".join(map(re.escape, longest_first)))

    def may_change(self, body: bytes) -> bool:
        """Return whether JSON may contain secrets, a test a hundred times as fast as the search."""
        if self._pattern is not None and self._pattern.search(body.decode()):
            return True
        folded = body.lower()
        return any(one in folded for one in _SUSPECT)

    def text(self, text: str) -> str:
        """Return a text without secrets."""
        if self._pattern is not None:
            text = self._pattern.sub(SECRET, text)
        return _IN_ADDRESSES.sub(SECRET, _KEYS.sub(SECRET, text))

    def value(self, value: Any) -> Any:
        """Return a plain value without secrets, by the names of members and within texts."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, dict):
            return {
                key: SECRET if _is_secret(key, one) else self.value(one)
                for key, one in value.items()
            }
        if isinstance(value, list | tuple):
            return [self.value(one) for one in value]
        return value

    def answers(self, value: Any) -> None:
        """Learn the answers to asks for a password in a request."""
        answer = value.get("answer") if isinstance(value, dict) else None
        if isinstance(answer, dict) and answer.get("kind") == "password":
            for one in (answer.get("value"), answer.get("raw")):
                if isinstance(one, str):
                    self.know(one)


def _is_secret(key: str, value: Any) -> bool:
    """Return whether a member is a secret by its name; numbers such as `max_tokens` are not."""
    if not isinstance(value, str | list | dict) or not value:
        return False
    folded = key.lower()
    last = folded.replace(".", "_").replace("-", "_").rpartition("_")[2]
    ends_secret = last.removeprefix("api") in _LAST_WORDS or folded.endswith(_LAST_LETTERS)
    return ends_secret or any(one in folded for one in _ANYWHERE)


class Names:
    """The names of ids in a cassette, such as `reply 2`; unknown ids and times share a name."""

    def __init__(self) -> None:
        self._names: dict[bytes, bytes] = {}
        self._dialogs = 0

    def know(self, id_: str, name: str) -> None:
        """Give an id a name."""
        if id_:
            self._names[id_.encode()] = f"<{name}>".encode()

    def know_dialog(self, id_: str) -> None:
        """Name a dialog by the order in which dialogs appeared."""
        if id_.encode() not in self._names:
            self._dialogs += 1
            self.know(id_, "dialog" if self._dialogs == 1 else f"dialog {self._dialogs}")

    def mask_ids(self, body: bytes) -> bytes:
        """Return JSON with names in place of all ids and times."""
        named = _ID.sub(self._name_or_id, body)
        return _TIME.sub(TIME.encode(), named)

    def name_ids(self, body: bytes) -> bytes:
        """Return JSON with names in place of the ids that have names."""
        return _ID.sub(lambda found: self._names.get(found[0], found[0]), body)

    def _name_or_id(self, found: re.Match[bytes]) -> bytes:
        return self._names.get(found[0], ID.encode())


class Mask:
    """Brings requests into the form of a cassette."""

    def __init__(self, redaction: Redaction, names: Names) -> None:
        self.redaction = redaction
        self.names = names

    def request(self, body: bytes) -> Any:
        """Return a request in the form of a cassette."""
        value = decode(self.names.mask_ids(body))
        if isinstance(value, dict) and isinstance(of_dialog := value.get("attributes"), dict):
            of_dialog.pop("pipeline", None)  # all services: another one alone is not drift
        return self.redaction.value(value) if self.redaction.may_change(body) else value

    def reply(self, value: Any) -> Any:
        """Return a reply in the form of a cassette; foreign ids stay."""
        return self.redaction.value(decode(self.names.name_ids(encode(value))))


def plain_settings(value: Any) -> Any:
    """Return settings as plain data: functions by dotted names, other objects by their types."""
    if value is None or isinstance(value, str | int | float | bool):
        return value
    if isinstance(value, Mapping):
        return {str(key): plain_settings(one) for key, one in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain_settings(one) for one in value]
    if isinstance(fields := getattr(value, "__struct_fields__", None), tuple):
        return dict(_changed_members(value, fields))
    if isinstance(value, Callable) and hasattr(value, "__qualname__"):  # type: ignore[arg-type]
        return f"{value.__module__}:{value.__qualname__}"
    return type(value).__name__


def _changed_members(struct: Any, fields: tuple[str, ...]) -> Iterator[tuple[str, Any]]:
    """Return the members of a Struct that differ from their defaults."""
    defaults = struct.__struct_defaults__
    usual = dict(zip(fields[len(fields) - len(defaults) :], defaults, strict=True))
    for field in fields:
        value = getattr(struct, field)
        if field not in usual or value != usual[field]:
            yield field, plain_settings(value)
