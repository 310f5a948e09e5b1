"""What builds and publishes the project names targets, files and versions that there are."""

import json
import re
import shutil
import subprocess
import sys
import tomllib
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import pytest
import yaml

from hatch_build import prepare

ROOT = Path(__file__).parents[2]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
PROJECTS = [ROOT / "pyproject.toml", ROOT / "src" / "prolocutor_demo" / "pyproject.toml"]


def project(file: Path) -> dict[str, Any]:
    return dict(tomllib.loads(file.read_text("utf-8"))["project"])


def instructions() -> list[tuple[str, str]]:
    """Return the Dockerfile's instructions, each with its arguments in one line."""
    text = re.sub(r"^\s*#.*\n", "", (ROOT / "Dockerfile").read_text("utf-8"), flags=re.MULTILINE)
    lines = re.sub(r"\\\n\s*", "", text).splitlines()
    return [(name, rest) for name, _, rest in (line.partition(" ") for line in lines) if name]


def test_both_distributions_have_one_version_and_the_same_pythons() -> None:
    ours, demo = map(project, PROJECTS)

    assert demo["version"] == ours["version"]
    assert demo["requires-python"] == ours["requires-python"]
    assert pythons(demo) == pythons(ours)


def test_the_demo_requires_nothing_of_ours_and_we_require_it_as_an_extra() -> None:
    ours, demo = map(project, PROJECTS)

    assert [
        dependency for dependency in demo["dependencies"] if dependency.startswith("prolocutor")
    ] == []
    assert "prolocutor-demo" in ours["optional-dependencies"]["demo"]
    assert "prolocutor-demo" not in ours["dependencies"]


def test_every_entry_point_leads_to_an_object_that_exists() -> None:
    groups = project(PROJECTS[0])["entry-points"]

    for group, points in groups.items():
        for name, value in points.items():
            EntryPoint(name, value, group).load()


ALIASES = {"demo", "eval", "learn", "thingtalk"}
"""Extras that are other extras of ours."""


@pytest.mark.parametrize("lock", ["core", "serve", "dev"])
def test_a_lock_holds_what_the_project_requires(lock: str) -> None:
    locked = names_in((ROOT / "requirements" / f"{lock}.lock").read_text("utf-8"))
    ours, demo = map(project, PROJECTS)
    extras = {
        "core": [],
        "serve": ["almond", "asks"],
        "dev": [extra for extra in ours["optional-dependencies"] if extra not in ALIASES],
    }[lock]
    required = [*ours["dependencies"], *(demo["dependencies"] if lock != "core" else [])]
    for extra in extras:
        required += ours["optional-dependencies"][extra]

    assert names_in("\n".join(required)) - locked == set()


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda file: file.name)
def test_a_workflow_runs_targets_and_scripts_that_there_are(workflow: Path) -> None:
    text = workflow.read_text("utf-8")
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))
    scripts = re.findall(r"(?<![\w/])\.ci/\w+", text)

    assert set(re.findall(r"\bmake ([a-z-]+)", text)) - targets == set()
    assert [script for script in scripts if not (ROOT / script).is_file()] == []


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda file: file.name)
def test_a_workflow_may_do_no_more_than_it_needs(workflow: Path) -> None:
    read = yaml.safe_load(workflow.read_text("utf-8"))

    assert read["permissions"] == {"contents": "read"}
    assert all("timeout-minutes" in job for job in read["jobs"].values())


def test_every_python_that_is_promised_is_tested_on_linux_and_macos() -> None:
    read = yaml.safe_load((ROOT / ".github" / "workflows" / "ci.yml").read_text("utf-8"))
    matrix = read["jobs"]["test"]["strategy"]["matrix"]

    assert set(matrix["python"]) == pythons(project(PROJECTS[0]))
    assert {name.partition("-")[0] for name in matrix["os"]} == {"ubuntu", "macos"}


def test_a_release_carries_compiled_wheels_for_every_python_on_linux_and_macos() -> None:
    settings = tomllib.loads(PROJECTS[0].read_text("utf-8"))["tool"]["cibuildwheel"]
    read = yaml.safe_load((ROOT / ".github" / "workflows" / "release.yml").read_text("utf-8"))
    machines = read["jobs"]["wheels"]["strategy"]["matrix"]["os"]

    built = {f"3.{one.removeprefix('cp3').removesuffix('-*')}" for one in settings["build"]}
    assert built == pythons(project(PROJECTS[0]))
    assert {name.partition("-")[0] for name in machines} == {"ubuntu", "macos"}
    assert read["jobs"]["publish"]["needs"] == ["build", "wheels"]


def test_what_the_compiled_wheel_compiles_can_be_prepared(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "src" / "prolocutor", tmp_path / "prolocutor")

    for source in prepare(tmp_path):
        compile((tmp_path / source).read_text("utf-8"), source, "exec")


def test_the_entry_of_mcps_registry_is_that_of_this_version() -> None:
    entry = json.loads((ROOT / "server.json").read_text("utf-8"))
    (package,) = entry["packages"]

    assert f"mcp-name: {entry['name']} " in (ROOT / "README.md").read_text("utf-8")
    assert {entry["version"], package["version"]} == {project(PROJECTS[0])["version"]}
    assert package["identifier"] == "prolocutor"
    assert package["packageArguments"][0]["value"] == "mcp"
    assert len(entry["description"]) <= 100  # as its schema has it


def test_a_release_pushes_the_image_and_the_chart() -> None:
    jobs = yaml.safe_load((ROOT / ".github" / "workflows" / "release.yml").read_text("utf-8"))
    job = jobs["jobs"]["image"]
    ran = "\n".join(step.get("run", "") for step in job["steps"])

    assert job["needs"] == "build"
    assert all(word in ran for word in (".ci/image", "docker push", "helm push"))


def test_a_release_needs_no_token() -> None:
    text = (ROOT / ".github" / "workflows" / "release.yml").read_text("utf-8")

    assert yaml.safe_load(text)["jobs"]["publish"]["permissions"] == {"id-token": "write"}
    assert "secrets." not in text


def test_every_extra_of_ours_names_a_plug_in_or_what_it_is_for() -> None:
    extras = project(PROJECTS[0])["optional-dependencies"].keys() - ALIASES
    plugins = {one.name for one in (ROOT / "src" / "prolocutor" / "plugins").iterdir()}

    assert extras - plugins == {"asks", "dev", "docs", "encoder"}


def test_the_image_runs_as_a_user_with_a_health_check_on_pinned_versions() -> None:
    found = instructions()
    stages = {rest.partition(" AS ")[2] for name, rest in found if name == "FROM"}
    bases = {rest.partition(" AS ")[0] for name, rest in found if name == "FROM"}
    (base,) = (rest.removeprefix("BASE=") for name, rest in found if name == "ARG")
    users = [rest for name, rest in found if name == "USER"]

    assert bases - stages == {"$BASE", "scratch"}
    assert re.fullmatch(r"python:3\.\d+\.\d+-slim-\w+@sha256:[0-9a-f]{64}", base)
    assert users[-1:] == ["10001:10001"]
    assert any(name == "HEALTHCHECK" and "/health/live" in rest for name, rest in found)


def test_the_image_copies_what_its_context_holds() -> None:
    ignored = (ROOT / ".dockerignore").read_text("utf-8")
    copied = [
        source
        for name, rest in instructions()
        if name == "COPY" and "--from" not in rest
        for source in rest.split()[:-1]
    ]

    assert [one for one in copied if not (ROOT / one).exists() or f"!{one}" not in ignored] == []


def test_a_linter_finds_nothing_in_the_dockerfile() -> None:
    program = shutil.which("hadolint") or shutil.which("hadolint", path=Path(sys.executable).parent)
    if program is None:
        pytest.skip("the Dockerfile's linter (no hadolint)")

    linted = subprocess.run(
        [program, "--no-color", str(ROOT / "Dockerfile")], capture_output=True, text=True
    )

    assert linted.returncode == 0
    assert linted.stdout == ""


def pythons(of: dict[str, Any]) -> set[str]:
    """Return the versions of Python that a project promises."""
    lines = "\n".join(of["classifiers"])
    return set(re.findall(r"Python :: (3\.\d+)$", lines, re.MULTILINE))


def names_in(requirements: str) -> set[str]:
    """Return the normalised names of the packages in a list of requirements."""
    found = re.findall(r"^(?!#)([\w.-]+)", requirements, re.MULTILINE)
    return {re.sub(r"[-_.]+", "-", name).lower() for name in found}


@pytest.mark.parametrize("store", ["stores/sqlite", "plugins/postgresql"])
def test_migrations_are_numbered_from_one_without_a_twin(store: str) -> None:
    scripts = (ROOT / "src" / "prolocutor" / store / "sql" / "migrations").glob("*.sql")

    numbers = sorted(int(script.name.partition("_")[0]) for script in scripts)

    assert numbers == list(range(1, len(numbers) + 1))
