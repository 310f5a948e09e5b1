"""Pages of the site that are no files in docs/: the API reference, and pages from the root folder.

MkDocs calls the `on_...` functions (https://www.mkdocs.org/user-guide/configuration/#hooks).
"""

import ast
import posixpath
import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PACKAGE = ROOT / "src" / "prolocutor"
REPOSITORY = "https://github.com/prolocutor/prolocutor/blob/main/"

ROOT_PAGES = {
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
    "SECURITY.md": "security.md",
}
API_PAGES = {
    "reference/api/public.md": "Public names",
    "reference/api/contracts.md": "Contracts",
    "reference/api/testing.md": "Kits for tests",
    "reference/api/errors.md": "Errors",
}

_LINK = re.compile(r"(\]\()([^)#\s:]+)(#[^)]*)?(\))")


def on_files(files: Files, config: Any) -> Files:
    """Add the pages that are no files in docs/."""
    for page in ROOT_PAGES:
        text = (ROOT / page).read_text("utf-8")
        files.append(File.generated(config, ROOT_PAGES[page], content=text))
    for path, title in API_PAGES.items():
        body = "\n\n".join(f"::: {name}" for name in api_names(Path(path).stem))
        files.append(File.generated(config, path, content=f"# {title}\n\n{body}\n"))
    return files


def on_page_markdown(markdown: str, *, page: Any, **_: Any) -> str:
    """Point links between docs/ and the root folder to where the site has these pages."""
    here = page.file.src_uri
    written = {page: name for name, page in ROOT_PAGES.items()}.get(here, f"docs/{here}")
    return _LINK.sub(
        lambda link: link[1] + moved(link[2], written, here) + (link[3] or "") + ")", markdown
    )


def on_post_build(config: Any) -> None:
    """Put each page beside its HTML as Markdown, and `llms.txt`, the index of these pages.

    The form of `llms.txt`: https://llmstxt.org
    """
    site = Path(config.site_dir)
    for page in sorted(DOCS.rglob("*.md")):
        target = site / page.relative_to(DOCS)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(page.read_text("utf-8"), encoding="utf-8")
    index = (DOCS / "index.md").read_text("utf-8").partition("\n")[2]
    sections = re.sub(r"^\*\*(.+)\*\*$", r"## \1", index, flags=re.MULTILINE)
    (site / "llms.txt").write_text(f"# {config.site_name}\n{sections}", encoding="utf-8")


def moved(target: str, written: str, here: str) -> str:
    """Return the link on the page `here` for one that was written in the file `written`."""
    file = posixpath.normpath(posixpath.join(posixpath.dirname(written), target))
    if file in ROOT_PAGES:
        uri = ROOT_PAGES[file]
    elif file.startswith("docs/"):
        uri = file.removeprefix("docs/")
    else:
        return REPOSITORY + file
    return posixpath.relpath(uri, posixpath.dirname(here) or ".")


def api_names(page: str) -> list[str]:
    """Return the dotted names that a page of the API reference shows."""
    if page == "public":
        return public_names()
    if page == "errors":
        return ["prolocutor.errors"]
    names = [
        f"prolocutor.{page}.{file.stem}"
        for file in sorted((PACKAGE / page).glob("*.py"))
        if file.stem != "__init__"
    ]
    return [*names, "prolocutor.plugins.store_kit.store_kit"] if page == "testing" else names


def public_names() -> list[str]:
    """Return where the public names of the package are defined, as type checkers read it."""
    tree = ast.parse((PACKAGE / "__init__.py").read_text("utf-8"))
    return [
        f"{node.module}.{alias.name}"
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom)
        and node.module
        # Contracts and errors have pages of their own.
        and not node.module.startswith(("prolocutor.contracts.", "prolocutor.errors"))
        for alias in node.names
        if alias.asname == alias.name
    ]
