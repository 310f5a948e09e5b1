"""What `prolocutor serve` prints when its doors are open."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Final

from prolocutor.config.store_location import sqlite_file, without_password

DEMO: Final = ("what is 15% of 80 and what time is it in Tokyo?", "how long is 5 miles in km?")
OPERATOR: Final = (
    "Operators need a key, also on this machine. Until this server ends: {} (send it as"
    " `Authorization: Bearer ...`, or give it to the page that asks for one)."
)
OTHERS: Final = ("hello", "what can you do?")


def greeting(
    name: str,
    url: str,
    kept: str,
    *,
    file: Path | None,
    store: str | None,
    page: bool = False,
    operators_page: str | None = None,
    key: str | None = None,
) -> str:
    """Return where an assistant listens, where it stores dialogs, and what to try.

    `kept` is the store's URL; `file` and `store` are as given on the command line. `page`: whether
    there is a page to open in a browser. `operators_page`: the path of the page for operators.
    `key`: that of this process, where no other makes an operator.
    """
    first, second = OTHERS if file else DEMO
    path = sqlite_file(kept)
    said = f'{{"user_id": "ann", "payload": "{second}"}}'
    who = f" -H 'Authorization: Bearer {key}'" if key else ""
    post = f"curl {url}{who} -H 'Content-Type: application/json' -d '{said}'"
    if path is None:
        tries = [post, f"curl {url}/openapi.json", f"curl {url}/metrics{who}"]
    else:
        where = f" {shlex.quote(str(file))}" if file else ""
        which = f" --assistant{where}" if file else ""
        beside = f" --store {shlex.quote(store)}" if store else ""
        tries = [f"prolocutor chat{where}{beside}"]
        tries += [f'prolocutor ask "{first}"{which}{beside}', post]
    where_kept = path or without_password(kept)
    return "\n".join(
        (
            f"{name} listens on {url} (Ctrl-C ends it).",
            f"Dialogs are kept in {where_kept}. Three things to try in another terminal:",
            *(f"  {one}" for one in tries),
            *([f"Or talk to it in a browser: {url}"] if page else []),
            *([f"Operators see and do more at {url}{operators_page}"] if operators_page else []),
            *([OPERATOR.format(key)] if key else []),
        )
    )
