"""What the tests of the page send and read: frames of the wire, good and hostile."""

from typing import Any

from playwright.sync_api import Locator, Page

from tests.acceptance.page.scripted import Frame, Server, asks

HOSTILE = (
    "javascript:window.harmed.push('address')//"
    "\"'><img src=x onerror=\"window.harmed.push('image')\"><b>bold</b>"
    "<script>window.harmed.push('script')</script>{{name}}${name}"
)
AWAY = "https://elsewhere.example"
PNG = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000001000000010802000000907753de"
    "0000000c49444154789c63f8cfc0000003010100c9fe92ef0000000049454e44ae426082"
)

MESSAGES: dict[str, Frame] = {
    "text": {"text": f"Look at {AWAY}/page."},
    "picture": {"url": f"{AWAY}/a.png", "alt": "A lake"},
    "rdl": {
        "rdl": {
            "webCallback": f"{AWAY}/lake",
            "displayTitle": "The lake",
            "displayText": "It is deep.",
            "pictureUrl": f"{AWAY}/b.png",
        }
    },
    "result": {"result": {"type": "weather", "Sky": "clear"}, "fallback": "It is clear."},
    "choice": {"idx": 0, "title": "The first", "text": "of two"},
    "button": {"title": "More", "json": {"code": ["bookkeeping", "x"], "entities": {}}},
    "link": {"title": "Set it up", "url": "/devices/configure/news?name=News", "link": "/apps"},
    "audio": {"url": f"{AWAY}/a.mp3", "alt": "A song"},
    "video": {"url": f"{AWAY}/a.mp4", "alt": "A film"},
    "sound": {"name": "alarm", "exclusive": False},
    "new-program": {
        "uniqueId": "u1",
        "name": "Every morning",
        "code": "@news.headlines();",
        "results": [{"raw": {}}],
        "errors": ["It stopped."],
    },
}


def message(number: int, kind: str = "text", /, **fields: Any) -> Frame:
    return {"id": number, "type": kind, "icon": "sure", "utt_id": f"{number:032x}", **fields}


def said(number: int, text: str) -> Frame:
    return {"id": number, "type": "command", "command": text}


def special(name: str, title: str) -> Frame:
    code = ["bookkeeping", "special", f"special:{name}"]
    return {"type": "parsed", "json": {"code": code, "entities": {}}, "title": title}


def words(text: str) -> Frame:
    return {"type": "command", "text": text}


def log(page: Page) -> Locator:
    return page.get_by_role("log")


def show(page: Page, server: Server, kind: str) -> Locator:
    """Let the assistant send one message of a kind, as it should be."""
    server.opened()
    server.send(message(0, kind, **MESSAGES[kind]), asks("choice" if kind == "choice" else None))
    return log(page)
