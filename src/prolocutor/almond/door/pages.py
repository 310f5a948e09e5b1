"""Pages: a small HTML page of ours, with nothing that runs in it."""

from __future__ import annotations

import base64
import hashlib
from html import escape
from typing import Final

from prolocutor.contracts.channel import HttpResponse

STYLE: Final = (
    ":root{color-scheme:light dark}"
    "body{font:1rem/1.5 system-ui,sans-serif;max-width:36rem;margin:3rem auto;padding:0 1rem}"
    "label{display:block;margin:1rem 0 .25rem}"
    "input{font:inherit;width:100%;box-sizing:border-box;padding:.4rem}"
    "button{font:inherit;margin-top:1.5rem;padding:.4rem 1.2rem}"
    "small{display:block;opacity:.75}"
)
_HASH: Final = base64.b64encode(hashlib.sha256(STYLE.encode()).digest()).decode()

HEADERS: Final = {
    "Content-Security-Policy": (
        f"default-src 'none'; style-src 'sha256-{_HASH}'; img-src 'self'; form-action 'self'; "
        "base-uri 'none'; frame-ancestors 'none'"
    ),
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-store",
}


def page(title: str, *parts: str, status: int = 200) -> HttpResponse:
    """Return a page; `title` is text, `parts` are HTML in which everything foreign is escaped."""
    shown = text(title)
    body = (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8">'
        f'<meta name="viewport" content="width=device-width"><title>{shown}</title>'
        f"<style>{STYLE}</style></head><body><main><h1>{shown}</h1>{''.join(parts)}"
        f'<p><a href="/">Back to the conversation</a></p></main></body></html>'
    )
    return HttpResponse(body.encode(), status, "text/html; charset=utf-8", HEADERS)


def text(value: str) -> str:
    """Escape what is shown as text or stands in an attribute between quotes."""
    return escape(value.encode("utf-8", "replace").decode())


def paragraph(value: str) -> str:
    """Return a paragraph of text."""
    return f"<p>{text(value)}</p>"
