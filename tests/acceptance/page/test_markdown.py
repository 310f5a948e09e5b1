"""Texts that are written in Markdown: drawn where a message says so, and never more than text."""

from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.acceptance.page.frames import HOSTILE, log, message
from tests.acceptance.page.scripted import NOTHING, Server, harmed

pytestmark = pytest.mark.browser

SOURCE = """# Refunds

Yes, **an hour** or *more*; see [the rules](https://elsewhere.example/a_b) or https://elsewhere.example/x_y.
![a map](https://elsewhere.example/map.png) \\*as it is\\* 2 * 3 * 4

| late by | back |
|---|:-:|
| 1 hour | half |

- one
  1. first
  2. second
- [x] done

> quoted `code`

```python
def f(x): return x ** 2 <b>
```"""

LARGE = ["*" * 100_000, "[a](" * 9_000, "> " * 30_000, "`a " * 9_000, "- a\n" * 500, "_a " * 9_000]


# What a pattern with two ways to split a line takes the square or the cube of its length for.
SLOW = [
    ["", " #", ""], ["#", " ", "\u2028"], ["# ", "#", "x"], ["```", " ", "`"], ["```a", " ", " b`"],
    ["a|b\n|", " ", "-x"], ["a|b\n", "- ", "x"], ["a|b\n", ":-: |", "x"], ["", "-", "x"],
    ["", "- ", "x"], ["", "`a ", ""], ["` ", "a", "\n`"], ["", "`` ` ", ""], ["", "[", ""],
    ["", "[a](", ""], ["[a](", "()", ""], ["[a](b", " ", "x"], ["", "*a _b ", ""],
    ["", "**a* ", ""],    ["", "> ", "a"],
    ["", "- ", "a"], ["", "| a ", "\n|-|"], ["", "|a\n|-\n", ""], ["", "\\`", ""],
    ["", "<http://a", ""], ["http://a", "*", ""],
]  # fmt: skip
GROWTH = """async (slow) => {
  const { Markdown } = await import("/page/markdown.js");
  const took = (source) => Math.min(...[1, 2, 3].map(() => {
    const begin = performance.now();
    Markdown({ source });
    return performance.now() - begin;
  }));
  let ticks = "";
  for (let n = 1; n < 280; n += 1) ticks += "`".repeat(n) + " ";
  const of = ([before, piece, after], times) => before + piece.repeat(times / piece.length) + after;
  const all = slow.map((one) => [of(one, 4_000), of(one, 32_000), one]);
  return [...all, [ticks.slice(0, 4_000), ticks, "ticks"]]
    .map(([short, long, one]) => [took(long) / Math.max(4, took(short)), one])
    .filter(([ratio]) => ratio > 40);
}"""


def drawn(page: Page, server: Server, text: Any) -> Locator:
    server.opened()
    server.send(message(0, text=text, format="markdown"), message(1, text="all"), NOTHING)
    expect(log(page).get_by_text("all", exact=True)).to_be_visible()
    return log(page).locator(".markdown")


def test_markdown_is_drawn_where_a_message_says_so(page: Page, server: Server) -> None:
    text = drawn(page, server, SOURCE)

    expect(text.get_by_role("heading", name="Refunds")).to_be_visible()
    expect(text.locator("strong")).to_have_text("an hour")
    expect(text.locator("em")).to_have_text("more")
    links = text.get_by_role("link")
    expect(links).to_have_text(["the rules", "https://elsewhere.example/x_y", "a map"])
    assert links.first.get_attribute("rel") == "noopener noreferrer nofollow"
    expect(text.get_by_role("cell")).to_have_text(["1 hour", "half"])
    expect(text.locator("ol li")).to_have_text(["first", "second"])
    expect(text.locator("ul > li")).to_contain_text(["one", "☑ done"])
    expect(text.locator("blockquote code")).to_have_text("code")
    expect(text.locator("pre")).to_have_text("def f(x): return x ** 2 <b>")
    expect(text).to_contain_text("*as it is* 2 * 3 * 4")
    expect(text.locator("img")).to_have_count(0)
    server.send(message(2, text="**as it came**"), NOTHING)
    expect(log(page).get_by_text("**as it came**", exact=True)).to_be_visible()
    leaps = "### a\n##### b\n# c\n## d"
    server.send(message(3, text=leaps, format="markdown"), NOTHING)
    last = text.last.get_by_role("heading")
    expect(last).to_have_text(["a", "b", "c", "d"])
    assert last.evaluate_all("all => all.map((one) => one.tagName)") == ["H2", "H3", "H2", "H3"]


def test_what_is_hostile_in_markdown_stays_text(page: Page, server: Server) -> None:
    hostile = [
        HOSTILE,
        f"[{HOSTILE}](javascript:window.harmed.push(1)) [x](data:text/html,1) [y](//e.example)",
        "![x](javascript:alert(1)) <javascript:alert(1)> [z](https://user@e.example/ 'a')",
        f"| {HOSTILE} |\n|---|\n| {HOSTILE} |\n\n- {HOSTILE}\n\n```{HOSTILE}\n{HOSTILE}\n```",
        "\u202eevil\u202c [\u202e](https://elsewhere.example) \x00",
        "> - " * 40 + "deep",
    ]
    text = drawn(page, server, "\n\n".join(hostile))

    expect(text).to_contain_text("<b>bold</b>")
    expect(text).to_contain_text("deep")
    assert harmed(page) == []
    depth = text.evaluate(
        "(one) => Math.max(...[...one.querySelectorAll('*')].map((each) => {"
        " let n = 0; for (; each !== one; each = each.parentElement) n += 1; return n; }))"
    )
    assert depth < 40


def test_large_and_odd_texts_do_not_hold_the_page_up(page: Page, server: Server) -> None:
    server.opened()
    texts: list[Any] = [*LARGE, None, {"__html": "x"}, 7]
    frames = [message(n, text=one, format="markdown") for n, one in enumerate(texts)]
    server.send(*frames, message(len(frames), text="all"), NOTHING)

    expect(log(page).get_by_text("all", exact=True)).to_be_visible()


def test_the_time_of_a_text_grows_with_its_length(page: Page, server: Server) -> None:
    server.opened()

    assert page.evaluate(GROWTH, SLOW) == []


def test_code_is_copied_as_it_was_written(page: Page, server: Server) -> None:
    text = drawn(page, server, "```\na  *b*\n```")
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    text.get_by_role("button", name="Copy the code").click()

    expect(text.get_by_role("button", name="Copied")).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()") == "a  *b*"
