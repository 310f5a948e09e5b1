"""What every page keeps: links lead somewhere, blocks are what they say, words are our own."""

import ast
import importlib.util
import itertools
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from prolocutor.config.faults import ConfigFaults, Fault
from prolocutor.config.loading import survey
from prolocutor.config.tenants_file import is_tenants_file, load_tenants
from tests.pages import BENCH, ROOT, Block, anchors, blocks, links, pages, prose

PAGES = pages()
BLOCKS = [block for page in PAGES for block in blocks(page)]
LANGUAGES = {"console", "python", "yaml", "json", "js", "text", "ini", "http", ""}

REPOSITORY = "https://github.com/prolocutor/prolocutor/blob/main/"

_OUR_FILES = re.compile(r"`((?:tests|src|bench|docs)/[\w/.-]+)`")


def in_language(*languages: str) -> list[Block]:
    return [block for block in BLOCKS if block.language in languages]


def names(things: list[Path]) -> list[str]:
    return [str(thing.relative_to(ROOT)) for thing in things]


@pytest.mark.parametrize("page", PAGES, ids=names(PAGES))
def test_every_link_leads_somewhere(page: Path) -> None:
    assert list(broken_links(page)) == []


def test_the_links_of_the_readme_work_on_a_package_index() -> None:
    assert [link for link in links(ROOT / "README.md") if not link.startswith("https://")] == []


def test_the_readme_fits_on_one_screen() -> None:
    assert len((ROOT / "README.md").read_text("utf-8").splitlines()) <= 65


def test_the_index_and_the_sites_navigation_lead_to_every_page() -> None:
    docs = ROOT / "docs"
    pages_of_docs = {str(page.relative_to(docs)) for page in docs.rglob("*.md")}
    linked = {link for link in links(docs / "index.md") if not re.match(r"https?:", link)}

    assert pages_of_docs - linked == {"index.md"}
    assert pages_of_docs - set(navigation()) == set()


def test_the_site_is_built_without_a_warning(tmp_path: Path) -> None:
    if importlib.util.find_spec("mkdocs_autorefs") is None:
        pytest.skip("the site (no MkDocs)")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(tmp_path)]

    environ = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}  # it is about plug-ins, not about us

    built = subprocess.run(command, cwd=ROOT, env=environ, capture_output=True, text=True)

    assert (built.returncode, "WARNING" in built.stderr) == (0, False), built.stderr
    assert (tmp_path / "reference" / "api" / "public" / "index.html").is_file()
    assert (tmp_path / "search" / "search_index.json").is_file()


@pytest.mark.parametrize("page", PAGES, ids=names(PAGES))
def test_a_list_begins_after_an_empty_line(page: Path) -> None:
    lines = prose(page).splitlines()
    begins = [
        line
        for before, line in itertools.pairwise(lines)
        if re.match(r"[-*] |\d+\. ", line) and before and not re.match(r"[-* \d]", before)
    ]

    assert begins == []


@pytest.mark.parametrize("page", PAGES, ids=names(PAGES))
def test_every_file_that_is_named_exists(page: Path) -> None:
    named = {ROOT / name for name in _OUR_FILES.findall(prose(page))} - BENCH

    assert [str(file) for file in named if not file.exists()] == []


@pytest.mark.parametrize("block", BLOCKS, ids=str)
def test_every_block_says_its_language(block: Block) -> None:
    assert block.language in LANGUAGES


@pytest.mark.parametrize("block", in_language("python"), ids=str)
def test_python_can_be_read_and_its_imports_are_there(block: Block) -> None:
    tree = compile(
        block.text, str(block), "exec", ast.PyCF_ONLY_AST | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
    )

    assert list(missing_imports(tree)) == []


def test_json_can_be_read() -> None:
    for block in in_language("json"):
        json.loads(block.text)


@pytest.mark.parametrize("block", in_language("yaml"), ids=str)
def test_yaml_has_keys_that_we_know(block: Block, tmp_path: Path) -> None:
    file = tmp_path / "assistant.yaml"
    file.write_text(block.text, encoding="utf-8")

    assert isinstance(yaml.safe_load(block.text), dict)
    assert [str(fault) for fault in faults(file, is_whole=block.file is not None)] == []


@pytest.mark.parametrize("page", PAGES, ids=names(PAGES))
def test_no_page_names_a_place_of_one_machine(page: Path) -> None:
    assert re.findall(r"/work/|/root/|/home/\w+|pypi\.\w+\.\w+", page.read_text("utf-8")) == []


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


def missing_imports(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and str(node.module).startswith("prolocutor"):
            module = importlib.import_module(str(node.module))
            for alias in node.names:
                if not hasattr(module, alias.name):
                    yield f"{node.module}.{alias.name}"


def faults(file: Path, *, is_whole: bool) -> list[object]:
    """Return what is wrong with the keys of a file; a part of one may lack what is elsewhere."""
    environ = dict.fromkeys(re.findall(r"\$\{(\w+)\}", file.read_text("utf-8")), "set")
    if is_tenants_file(file):
        return [fault for fault in tenants_faults(file, environ) if "no file" not in fault.what]
    found = survey(file, environ).findings.faults
    elsewhere = re.compile(r"at least one skill|no process is called|no service or stage is called")
    return [fault for fault in found if is_whole or not elsewhere.search(fault.what)]


def tenants_faults(file: Path, environ: dict[str, str]) -> tuple[Fault, ...]:
    try:
        load_tenants(file, environ)
    except ConfigFaults as error:
        return error.faults
    return ()
