"""What every page keeps: links lead somewhere, blocks are what they say, words are our own."""

import ast
import importlib.util
import itertools
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest
import yaml

from prolocutor.config.loading import survey
from prolocutor.config.yaml_file import Fault
from tests.pages import BENCH, ROOT, Block, anchors, blocks, links, pages, prose

PAGES = pages()
BLOCKS = [block for page in PAGES for block in blocks(page)]
LANGUAGES = {"console", "python", "yaml", "toml", "json", "js", "text", "ini", "http", ""}

REPOSITORY = "https://github.com/prolocutor/prolocutor/blob/main/"

_OUR_FILES = re.compile(r"`((?:tests|src|bench|docs)/[\w/.-]+)`")


def in_language(*languages: str) -> list[Block]:
    return [block for block in BLOCKS if block.language in languages]


def told(found: Iterable[tuple[Path | Block, Iterable[object]]]) -> list[str]:
    """Return what was found in each place, with the place's name in front."""
    return [f"{place}: {one}" for place, all_there in found for one in all_there]


def test_every_link_leads_somewhere() -> None:
    assert told((page, broken_links(page)) for page in PAGES) == []


def test_the_links_of_the_readme_work_on_a_package_index() -> None:
    assert [link for link in links(ROOT / "README.md") if not link.startswith("https://")] == []


def test_the_readme_fits_on_one_screen() -> None:
    assert len((ROOT / "README.md").read_text("utf-8").splitlines()) <= 65


def test_the_index_and_the_sites_navigation_lead_to_every_page() -> None:
    docs = ROOT / "docs"
    pages_of_docs = {str(page.relative_to(docs)) for page in docs.rglob("*.md")}
    linked = {link for link in links(docs / "index.md") if not re.match(r"https?:", link)}
    decisions = {f"adr/{link}" for link in links(docs / "adr" / "index.md")}

    assert pages_of_docs - linked - decisions == {"index.md"}
    assert pages_of_docs - set(navigation()) - decisions == set()


@pytest.mark.long
def test_the_site_is_built_without_a_warning(tmp_path: Path) -> None:
    if importlib.util.find_spec("mkdocs_autorefs") is None:
        pytest.skip("the site (no MkDocs)")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(tmp_path)]

    environ = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}  # it is about plug-ins, not about us

    built = subprocess.run(command, cwd=ROOT, env=environ, capture_output=True, text=True)

    assert (built.returncode, "WARNING" in built.stderr) == (0, False), built.stderr
    assert (tmp_path / "reference" / "api" / "public" / "index.html").is_file()
    assert (tmp_path / "search" / "search_index.json").is_file()
    listed = re.findall(r"\]\(([\w/-]+\.md)\)", (tmp_path / "llms.txt").read_text("utf-8"))
    assert [page for page in listed if not (tmp_path / page).is_file()] == []


def test_a_list_begins_after_an_empty_line() -> None:
    begins = [
        f"{page}: {line}"
        for page in PAGES
        for before, line in itertools.pairwise(prose(page).splitlines())
        if re.match(r"[-*] |\d+\. ", line) and before and not re.match(r"[-* \d]", before)
    ]

    assert begins == []


def test_every_file_that_is_named_exists() -> None:
    named = {
        page: {ROOT / name for name in _OUR_FILES.findall(prose(page))} - BENCH
        for page in PAGES
        if page.parent.name != "adr"  # decisions go on naming what there was
    }

    assert (
        told((page, [it for it in files if not it.exists()]) for page, files in named.items()) == []
    )


def test_every_block_says_its_language() -> None:
    assert [str(block) for block in BLOCKS if block.language not in LANGUAGES] == []


def test_python_can_be_read_and_its_imports_are_there() -> None:
    assert told((block, missing_imports(block)) for block in in_language("python")) == []


def test_json_can_be_read() -> None:
    for block in in_language("json"):
        json.loads(block.text)


def test_yaml_has_keys_that_we_know(tmp_path: Path) -> None:
    assert told((block, faults(block, tmp_path)) for block in in_language("yaml")) == []


def test_no_page_names_a_place_of_one_machine() -> None:
    place = re.compile(r"/work/|/root/|/home/\w+|pypi\.\w+\.\w+")

    assert told((page, place.findall(page.read_text("utf-8"))) for page in PAGES) == []


def navigation() -> Iterator[str]:
    """Return the pages that the site's navigation names."""
    text = (ROOT / "mkdocs.yml").read_text("utf-8")
    yield from re.findall(r"[\w/-]+\.md$", text.partition("\nnav:\n")[2], re.MULTILINE)


def broken_links(page: Path) -> Iterator[str]:
    for link in links(page):
        target, _, anchor = link.partition("#")
        if target.startswith(REPOSITORY):
            target = os.path.relpath(ROOT / target.removeprefix(REPOSITORY), page.parent)
        if re.match(r"https?:", target):
            continue
        file = (page.parent / target).resolve() if target else page
        if not file.exists():
            if file not in BENCH:
                yield link
        elif anchor and anchor not in anchors(file):
            yield link


def missing_imports(block: Block) -> Iterator[str]:
    flags = ast.PyCF_ONLY_AST | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
    try:
        tree = compile(block.text, str(block), "exec", flags)
    except SyntaxError as error:
        yield str(error)
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and str(node.module).startswith("prolocutor"):
            module = importlib.import_module(str(node.module))
            for alias in node.names:
                if not hasattr(module, alias.name):
                    yield f"{node.module}.{alias.name}"


def faults(block: Block, folder: Path) -> list[Fault | str]:
    """Return what is wrong with the keys of a file; a part of one may lack what is elsewhere."""
    if not isinstance(yaml.safe_load(block.text), dict):
        return ["not a mapping"]
    file = folder / "assistant.yaml"
    file.write_text(block.text, encoding="utf-8")
    environ = dict.fromkeys(re.findall(r"\$\{(\w+)\}", file.read_text("utf-8")), "set")
    found = survey(file, environ).findings.faults
    elsewhere = re.compile(r"at least one skill|no process is called|no service or stage is called")
    return [fault for fault in found if block.file or not elsewhere.search(fault.what)]
