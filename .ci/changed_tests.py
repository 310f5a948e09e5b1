"""Print the files and folders of unit tests for what has changed since main.

These are changed tests, tests that name a changed module, and the folder of a changed package whose
module no test names. Where nothing has changed, those of what everything else stands on.
"""

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

SOURCE = Path("src")
SMOKE = [Path("tests/unit", name) for name in ("dialog", "pipeline", "plan")]
MANY = 30  # tests of that many files name a noun that everything uses: those of its package will do


def main() -> None:
    """Print what pytest has to run."""
    tests = {file: file.read_text("utf-8") for file in unit_tests()}
    found = {one for file in changed() for one in tests_of(file, tests)}
    kept = [one for one in sorted(found) if found.isdisjoint(one.parents)]
    sys.stdout.write(" ".join(str(one) for one in kept or SMOKE))


def unit_tests() -> list[Path]:
    """Return all files of unit tests."""
    folders = [Path("tests/unit"), *Path("tests/plugins").glob("*/unit")]
    return [file for folder in folders for file in folder.rglob("test_*.py")]


def changed() -> set[Path]:
    """Return the files that differ from the last commit on main that this branch has."""
    base = git("merge-base", "HEAD", "main") or git("merge-base", "HEAD", "origin/main") or ["HEAD"]
    names = git("diff", "--name-only", "--no-renames", *base)
    names += git("ls-files", "--others", "--exclude-standard")
    return {Path(name) for name in names}


def git(*arguments: str) -> list[str]:
    """Return the lines that git prints; none where it fails, as outside a checkout."""
    ran = subprocess.run(["git", *arguments], capture_output=True, text=True, check=False)
    return ran.stdout.splitlines() if ran.returncode == 0 else []


def tests_of(file: Path, tests: dict[Path, str]) -> Iterator[Path]:
    """Return the tests of one changed file."""
    if file in tests:
        yield file
    elif file.suffix == ".md":
        yield Path("tests/unit/docs")
    elif file.is_relative_to(SOURCE / "prolocutor"):
        module = ".".join(file.with_suffix("").relative_to(SOURCE).parts)
        name = re.compile(rf"\b{re.escape(module.removesuffix('.__init__'))}\b(?!\.)")
        naming = [test for test, text in tests.items() if name.search(text)]
        folder = folder_of(file.relative_to(SOURCE / "prolocutor"))
        if 0 < len(naming) <= MANY:
            yield from naming
        else:
            yield from [folder] if folder else SMOKE


def folder_of(file: Path) -> Path | None:
    """Return the nearest folder of unit tests for a file of the package; None for all of them."""
    places = [Path("tests/unit") / one for one in file.parents if one.parts]
    if file.parts[0] == "plugins" and len(file.parts) > 2:
        tests = Path("tests/plugins", file.parts[1], "unit")
        places = [tests / one for one in Path(*file.parts[2:]).parents]
    return next((place for place in places if place.is_dir()), None)


if __name__ == "__main__":
    main()
