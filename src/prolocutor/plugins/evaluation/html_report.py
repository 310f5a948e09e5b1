"""An HTML report in one file: it needs no network, and reads nothing of others as HTML.

Text of data and agents is escaped, or put into the page as JSON, which the page's own script shows
as text. The content security policy allows only that script and the style below, by their hashes.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from html import escape
from pathlib import Path
from typing import Any, Final

import msgspec

from prolocutor.plugins.evaluation.example_rows import as_json

NUMBER: Final = ' class="number"'
"""The attribute of a table cell that holds a number."""

_STYLE: Final = Path(__file__).with_suffix(".css")
_PAGE: Final = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>{style}</style>
</head>
<body>
<h1>{title}</h1>
<p class="dim">{summary}</p>
{body}
</body>
</html>
"""
_SCRIPT: Final = """
<script type="application/json" id="data">{data}</script>
<script>{script}</script>"""


def html_report(
    title: str, summary: str, body: Iterable[str], *, script: str = "", data: Any = None
) -> str:
    """Return the page. `title` and `summary` are text, the parts of `body` are HTML.

    `script` finds `data` as JSON in the element with the id `data`.
    """
    style = _STYLE.read_text("utf-8")
    policy = f"default-src 'none'; style-src '{_hash(style)}'"
    parts = "\n".join(body)
    if script:
        policy = f"default-src 'none'; script-src '{_hash(script)}'; style-src '{_hash(style)}'"
        parts += _SCRIPT.format(data=_embedded(data), script=script)
    page = _PAGE.format(
        policy=policy, title=escape(title), style=style, summary=escape(summary), body=parts
    )
    return page.encode("utf-8", "replace").decode()


def table(head: Sequence[str], lines: Iterable[str]) -> str:
    """Return a table. `head` is text, all but its first cell above numbers; `lines` are HTML."""
    cells = "".join(f"<th{NUMBER if n else ''}>{escape(name)}</th>" for n, name in enumerate(head))
    return f"<table><thead><tr>{cells}</tr></thead><tbody>{''.join(lines)}</tbody></table>"


def line(name: str, cells: Iterable[str]) -> str:
    """Return a line of a table: a name, then numbers that are written already."""
    shown = "".join(f"<td{NUMBER}>{escape(cell)}</td>" for cell in cells)
    return f"<tr><td>{escape(name)}</td>{shown}</tr>"


def value_table(values: Mapping[str, Any]) -> str:
    """Return names and values as a table without a head; None is left out."""
    lines = [
        f"<tr><td>{escape(name)}</td><td>{escape(str(value))}</td></tr>"
        for name, value in values.items()
        if value is not None
    ]
    return f"<table><tbody>{''.join(lines)}</tbody></table>"


def share_matrix(
    cells: Mapping[tuple[str, str], float], names: Sequence[str], title: str, caption: str
) -> str:
    """Return a square table of shares, 0 to 1, by (row, column); a larger share is darker."""
    head = "".join(f'<th class="turned"><span>{escape(name)}</span></th>' for name in names)
    lines = []
    for row in names:
        shown = "".join(_share(cells.get((row, column))) for column in names)
        lines.append(f"<tr><th>{escape(row)}</th>{shown}</tr>")
    return (
        f'<h2>{escape(title)}</h2><p class="dim">{escape(caption)}</p><div class="wide">'
        f'<table class="matrix"><thead><tr><th></th>{head}</tr></thead>'
        f"<tbody>{''.join(lines)}</tbody></table></div>"
    )


def _share(share: float | None) -> str:
    if share is None:
        return "<td></td>"
    return f'<td class="share s{round(10 * min(1.0, max(0.0, share)))}">{share:.0%}</td>'


def _embedded(value: Any) -> str:
    """Return JSON that cannot end the script element that it stands in."""
    text = msgspec.json.encode(as_json(value)).decode()
    for sign in "<>&\u2028\u2029":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return text


def _hash(text: str) -> str:
    return f"sha256-{b64encode(sha256(text.encode()).digest()).decode()}"
