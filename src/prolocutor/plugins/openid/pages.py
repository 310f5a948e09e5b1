"""The page that a browser shows after a failed sign-in."""

from __future__ import annotations

import html
from collections.abc import Mapping
from typing import Final

from prolocutor.contracts.http import HttpResponse

_POLICY: Final = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
_PAGE: Final = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Not signed in</title>
<h1>You are not signed in</h1>
<p>{what}</p>
<p><a href="{again}">Try again</a></p>
</html>
"""


def error_page(status: int, what: str, again: str, headers: Mapping[str, str]) -> HttpResponse:
    """Return a page with the error and a link to try again."""
    body = _PAGE.format(what=html.escape(what), again=html.escape(again, quote=True))
    return HttpResponse(
        body.encode(),
        status,
        "text/html; charset=utf-8",
        {**headers, "Content-Security-Policy": _POLICY},
    )
