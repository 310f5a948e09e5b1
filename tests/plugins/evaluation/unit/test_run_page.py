"""The page of a run: whole in one file, and nothing that was said is HTML."""

import json
import re
from html.parser import HTMLParser

import pytest

from prolocutor.plugins.evaluation.example_rows import ExampleRow
from prolocutor.plugins.evaluation.run_folder import RunDescription
from prolocutor.plugins.evaluation.run_page import page_of
from prolocutor.plugins.evaluation.run_report import report_of
from tests.plugins.evaluation.unit.made import row

HOSTILE = [
    "<script>alert(1)</script>",
    "</script><script>alert(1)</script>",
    "<!--<script>",
    "\"><img src=x onerror='alert(1)'>",
    "]]><svg onload=alert(1)>&lt;b&gt;",
    "\u2028\u2029 javascript:alert(1)",
    "{data} {script}",
    "a \ud800 b",
]


class Parsed(HTMLParser):
    """Every tag with its attributes, and the texts of scripts."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.scripts: list[str] = []
        self._in_script = False
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self._in_script = tag == "script"
        if self._in_script:
            self.scripts.append("")

    def handle_endtag(self, tag: str) -> None:
        self._in_script = False

    def handle_data(self, data: str) -> None:
        if self._in_script:
            self.scripts[-1] += data


def made(texts: list[str]) -> str:
    rows: list[ExampleRow] = []
    for n, text in enumerate(texts * 2):
        said = {"text": text, "eval_labels": [text]}
        act = {"text": text, "text_candidates": [text, f"{text}!"]}
        rows.append(
            row(n, {"f1": 0.5, text: 1.0}, input=said, act=act, by=text, group=text, error=None)
        )
        rows.append(row(n, {"f1": 0.0}, turn=1, input=said, group=text, error=text))
    run = RunDescription(
        configuration={"subject": texts[0], texts[0]: texts[0]}, options={"data": texts[0]}
    )
    return page_of(run, report_of(rows), rows)


@pytest.mark.parametrize("text", HOSTILE)
def test_nothing_that_was_said_is_html(text: str) -> None:
    harmless, hostile = Parsed(made(["harmless"])), Parsed(made([text]))

    def anonymous(page: Parsed) -> list[tuple[str, list[str]]]:
        return [(tag, sorted(attributes)) for tag, attributes in page.tags]

    assert anonymous(hostile) == anonymous(harmless)
    assert len(hostile.scripts) == 2
    assert hostile.scripts[1] == harmless.scripts[1]


def test_every_dialog_is_in_the_page_as_it_was_said() -> None:
    told = json.loads(Parsed(made(HOSTILE[:7])).scripts[0])

    assert [dialog["turns"][0]["text"] for dialog in told["dialogs"]] == HOSTILE[:7] * 2
    assert told["dialogs"][0]["turns"][0]["others"] == [f"{HOSTILE[0]}!"]
    assert told["dialogs"][3]["turns"][1]["error"] == HOSTILE[3]


def test_the_page_needs_nothing_else() -> None:
    page = made(["harmless", "other"])
    parsed = Parsed(page)

    assert not re.search(r"https?://|url\(|@import|\bsrc=|\bhref=", page)
    policy = next(
        one["content"] or "" for tag, one in parsed.tags if "http-equiv" in one and tag == "meta"
    )
    assert policy.startswith("default-src 'none'; script-src 'sha256-")
    assert "unsafe" not in policy


def test_scores_latency_and_groups_are_drawn() -> None:
    page = made(["first", "second"])

    captions = re.findall(r"<figcaption>(.*?)</figcaption>", page)
    assert captions[0] == "Scores, with 95 % intervals"
    assert {"f1 by group", "Examples by f1", "Examples by latency", "Answered by"} <= {*captions}
    assert "<svg" in page
