"""All kinds of asks: what is typed, what is as it is, and that no words ever break a reader."""

import sys
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prolocutor.asks import kinds
from prolocutor.asks.answers import AnswerContext, NotUnderstood, Understood
from prolocutor.asks.controls import find_control
from prolocutor.asks.kinds import hint_for, read, take_value
from prolocutor.assistant.assistant import Assistant
from prolocutor.config.loading import survey
from prolocutor.dialog import plain
from prolocutor.dialog.messages import ASK_KINDS, checked_ask
from prolocutor.dialog.rounds import Ask
from prolocutor.reading import libraries
from tests.unit.asks.contexts import BERLIN, KNOWN, value

KINDS: list[Ask] = ASK_KINDS.names()
RAW = {kind for kind in KINDS if kinds.has_trait(kind, "is_raw")}
LONG = (
    "one " * 25_000,
    "a" * 100_000,
    "1 may " * 17_000,
    "yes " * 25_000,
    "9" * 100_000,
    "1,0" * 33_000,
    "a@a." * 25_000,
    "\u0e33" * 3_000,
    "ﷺ" * 3_000,
    " " * 100_000,
    "in in in in " * 24,
    "please, " * 37,
    "1 of 2 and a half and " * 13,
    "twenty " * 42,
    "a.b" * 99,
    "1 january 2027 at " * 16,
)


@pytest.mark.parametrize("kind", KINDS)
def test_a_long_text_is_read_in_no_time(kind: Ask) -> None:
    for text in LONG:
        start = time.process_time()
        read(kind, text, KNOWN)
        find_control(text)
        assert time.process_time() - start < 4


WORDS = st.sampled_from(
    "one two half and a the in past to at may june friday next 5 12 1/2 , . - + @ : % $ am pm km"
    " point minus dozen days minutes ago last second yes no not ² ½ \ud800 \x00 \u202e é".split(" ")
)
TEXTS = st.text(max_size=30) | st.lists(WORDS, max_size=8).map(" ".join)


@given(st.sampled_from(KINDS), TEXTS)
def test_no_text_breaks_a_reader(kind: Ask, text: str) -> None:
    outcome = read(kind, text, KNOWN)
    if isinstance(outcome, NotUnderstood):
        assert outcome.hint.strip()
    elif "\ud800" not in text:
        plain.check(outcome.value)


@given(st.sampled_from(KINDS), TEXTS)
def test_no_text_breaks_a_reader_without_the_extra(kind: Ask, text: str) -> None:
    with pytest.MonkeyPatch.context() as patch:
        for library in ("dateparser", "phonenumbers", "text_to_num"):
            patch.setattr(libraries, library, lambda: None)
        read(kind, text, KNOWN)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=9),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["year", "hour", "latitude", "display", "value"]), inner)
    ),
    max_leaves=5,
)


@given(st.sampled_from(KINDS), st.sampled_from(KINDS) | st.none(), JSON)
def test_no_parsed_value_breaks_a_reader(kind: Ask, of: Ask | None, given_value: Any) -> None:
    assert isinstance(take_value(kind, of, given_value, KNOWN), Understood | NotUnderstood)


@given(st.sampled_from(sorted(set(KINDS) - RAW - {"command", "choice", "yesno"})), TEXTS)
def test_what_is_read_from_a_value_that_is_a_text_is_that_value(kind: Ask, text: str) -> None:
    outcome = read(kind, text, KNOWN)
    if isinstance(outcome, Understood) and isinstance(outcome.value, str) and kind != "contact":
        again = read(kind, outcome.value, KNOWN)
        assert again == outcome or kind == "generic"


@pytest.mark.parametrize("kind", sorted(RAW))
@pytest.mark.parametrize("text", ["cancel", "yes", " two  blanks ", "\\r {}", "x" * 100_000])
def test_a_raw_ask_takes_any_text_as_it_is(kind: Ask, text: str) -> None:
    assert value(kind, text) == text


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "choice"])
@pytest.mark.parametrize("text", ["", "  ", "\n"])
def test_nothing_is_no_answer(kind: Ask, text: str) -> None:
    assert value(kind, text) is None


def test_a_command_is_whatever_comes() -> None:
    assert value("command", " play jazz ") == "play jazz"
    assert take_value("command", None, {"program": "now => @a.b();"}, BERLIN) == Understood(
        {"program": "now => @a.b();"}
    )


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_says_what_it_looks_for(kind: Ask) -> None:
    assert hint_for(kind).endswith(".")


SIZES = """
from typing import Annotated, Any
import msgspec
from prolocutor.asks.answers import AnswerContext, NotUnderstood, Understood
from prolocutor.bounds import about

class Size(msgspec.Struct, frozen=True):
    \"\"\"A size.\"\"\"

    sizes: Annotated[tuple[str, ...], about("The sizes that there are.")] = ("S", "M", "L")

    @property
    def hint(self):
        return f"I'm looking for a size: {', '.join(self.sizes)}."

    def build(self, context):
        return self

    def read(self, text, context):
        size = text.strip().upper()
        return Understood(size) if size in self.sizes else NotUnderstood(self.hint)

    def take(self, type_name, value, context):
        return self.read(str(value), context)

def sell(request):
    if "answer" in request:
        return [{"text": f"Here is {request['answer']['value']}.", "confidence": 1}]
    return [{"text": "Which size?", "confidence": 1, "ask": "size"}]
"""


@pytest.fixture
def shop(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Install a package with a kind of ask; return the file of an assistant that sets it."""
    (tmp_path / "shop_asks.py").write_text(SIZES)
    folder = tmp_path / "shop-1.0.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: shop\nVersion: 1.0\n")
    (folder / "entry_points.txt").write_text("[prolocutor.asks]\nsize = shop_asks:Size\n")
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    file = tmp_path / "shop.yaml"
    file.write_text("skills: {shop: shop_asks:sell}\nasks: {size: {sizes: [XS, XL]}}\n")
    return file


@pytest.mark.usefixtures("shop")
def test_an_answer_of_a_telling_kind_of_another_package_is_recognised(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert {*kinds.telling_kinds()} == {"yesno", "number", "date", "time", "phone_number"}

    monkeypatch.setattr(ASK_KINDS.load("size"), "is_telling", True, raising=False)

    assert "size" in kinds.telling_kinds()


@pytest.mark.usefixtures("shop")
def test_an_installed_package_adds_a_kind_of_ask() -> None:
    usual = kinds.AskKinds()

    assert checked_ask("size") == "size"
    assert usual.read("size", " m ", BERLIN) == Understood("M")
    assert usual.read("size", "huge", BERLIN) == NotUnderstood(usual.hint("size"))
    assert kinds.value_schema("size") == {"type": "string"}


async def test_a_file_sets_the_options_of_a_kind_of_ask(shop: Path) -> None:
    async with Assistant.from_file(shop, store="memory:") as assistant:
        replies = [await assistant.reply(text, user="ann") for text in ("a shirt", "m", "xl")]

    assert "I'm looking for a size: XS, XL." in str(replies[1].attributes["messages"])
    assert [reply.text for reply in replies[::2]] == ["Which size?", "Here is XL."]


@pytest.mark.parametrize(
    ("asks", "line", "fault"),
    [
        ("size: {sizs: [XS]}", 3, "unknown key; did you mean 'sizes'?"),
        ("sise: {}", 3, "there is no kind of ask 'sise'; did you mean 'size'?"),
    ],
)
def test_a_wrong_option_of_a_kind_of_ask_is_a_fault_with_its_line(
    shop: Path, asks: str, line: int, fault: str
) -> None:
    shop.write_text(f"skills: {{shop: shop_asks:sell}}\nasks:\n  {asks}\n")

    (found,) = survey(shop, {}).findings.faults

    assert found.line == line
    assert fault in str(found)


class Faulty:
    """A kind of ask of others, whose reader does not do what it should."""

    hint = "Say a size."

    def build(self, context: None) -> Any:
        return self

    def read(self, text: str, context: AnswerContext) -> Any:
        return text

    def take(self, type_name: str, value: Any, context: AnswerContext) -> Any:
        raise RuntimeError("out of order")


def test_a_reader_that_fails_has_not_understood(caplog: pytest.LogCaptureFixture) -> None:
    faulty: Any = Faulty()
    asks = kinds.AskKinds({"size": faulty})

    assert asks.read("size", "m", BERLIN) == NotUnderstood("Say a size.")
    assert asks.take_value("size", None, "m", BERLIN) == NotUnderstood("Say a size.")
    assert len(caplog.records) == 2
