"""Common parts of OpenAI's endpoints: address, model and key."""

from __future__ import annotations

from typing import Any, Final

import msgspec

from prolocutor.connectors.parts.http_client import HttpClient
from prolocutor.connectors.parts.url import http_url
from prolocutor.errors import ConfigError

_OWN: Final = frozenset({"model", "system", "confidence", "stream"})
"""Keys of a URL's query that are ours; the others are sent."""


class OpenAiEndpoint:
    """A client of `{url}{path}`, the model, and the URL's query.

    `key` is sent as a bearer token, or stands in the URL as `https://:KEY@host/v1`; `model` may
    stand in the query. Raise `ConfigError` without a model.
    """

    def __init__(self, url: str, path: str, *, model: str | None, key: str | None) -> None:
        given = http_url(url)
        self.query = given.parameters
        found = model or self.query.get("model")
        if not found:
            what = "a chat endpoint" if "chat" in path else "an endpoint for embeddings"
            raise ConfigError(f"{what} needs a model: call: {{url: ..., model: ...}}")
        self.model: str = found
        key = key or given.password
        headers = {"Content-Type": "application/json"}
        if key:
            headers["Authorization"] = f"Bearer {key}"
        own = given.path.rstrip("/")
        target = msgspec.structs.replace(
            given,
            path=given.path if own.endswith(path) else own + path,
            query="&".join(
                one for one in given.query.split("&") if one.partition("=")[0] not in _OWN
            ),
            user=None,
            password=None,
        )
        self.client = HttpClient(target, headers=headers)


def error_text(error: Any) -> str:
    """Return the text of an `error` in place of a reply."""
    text = error.get("message") if isinstance(error, dict) else error
    return f"an error instead of a reply: {text!s:.200}"
