"""The same module name in two folders means two modules, one for each tenant."""

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from prolocutor import knowledge
from prolocutor.dotted_names import resolve
from prolocutor.errors import ConfigError
from prolocutor.tenancy import TENANT, Tenant

AGENTS = """
import json
import helper
from parts.inner import whose as inner
from parts import inner as module
CALLS = []
def top(): return helper.NAME
def nested(): return inner()
def late():
    import later
    CALLS.append(json.dumps(1))
    return later.NAME, len(CALLS)
def submodule():
    import parts.inner
    return parts.inner.whose(), module.whose()
"""


def write(folder: Path, name: str) -> Tenant:
    (folder / "parts").mkdir(parents=True)
    (folder / "json").mkdir()  # a bare folder hides no module of Python's
    (folder / "agents.py").write_text(AGENTS)
    (folder / "helper.py").write_text(f"NAME = {name!r}")
    (folder / "later.py").write_text(f"NAME = {name!r}")
    (folder / "parts" / "__init__.py").write_text("")
    (folder / "parts" / "inner.py").write_text("from . import names\nwhose = lambda: names.NAME\n")
    (folder / "parts" / "names.py").write_text(f"import helper\nNAME = helper.NAME or {name!r}")
    (folder / "needy.py").write_text("import no_such_module\n")
    return Tenant(name, folder)


@pytest.fixture
def tenants(tmp_path: Path) -> Iterator[list[Tenant]]:
    made = [write(tmp_path / name, name) for name in ("acme", "beta")]
    yield made
    for one in made:
        one.forget()


def within(tenant: Tenant, work: Callable[..., Any], *values: Any) -> Any:
    token = TENANT.set(tenant)
    try:
        return work(*values)
    finally:
        TENANT.reset(token)


@pytest.mark.parametrize("name", ["top", "nested"])
def test_functions_of_one_name_are_those_of_each_tenant(tenants: list[Tenant], name: str) -> None:
    functions = [within(one, resolve, f"agents:{name}") for one in tenants]

    assert [function() for function in functions] == ["acme", "beta"]


def test_imports_at_the_time_of_a_call_and_state_stay_with_the_tenant(
    tenants: list[Tenant],
) -> None:
    acme, beta = (within(one, resolve, "agents:late") for one in tenants)

    assert [acme(), acme(), beta()] == [("acme", 1), ("acme", 2), ("beta", 1)]
    assert within(tenants[1], resolve, "agents:submodule")() == ("beta", "beta")


def test_nobody_else_finds_the_modules(tenants: list[Tenant]) -> None:
    within(tenants[0], resolve, "agents:top")

    assert {"agents", "helper"}.isdisjoint(sys.modules)
    with pytest.raises(ConfigError, match="there is no module 'agents'"):
        resolve("agents:top")


def test_what_is_missing_has_the_name_that_the_code_gives_it(tenants: list[Tenant]) -> None:
    with pytest.raises(ConfigError, match="'needy' imports 'no_such_module', which is not"):
        within(tenants[0], resolve, "needy:f")
    with pytest.raises(ConfigError, match=r"no module 'parts\.nothing'"):
        within(tenants[0], resolve, "parts.nothing:f")


def test_knowledge_is_shared_by_the_services_of_one_tenant_alone(tenants: list[Tenant]) -> None:
    acme, beta = tenants
    within(acme, lambda: knowledge.put("news", "topic", "from acme", seconds=60))

    found = [within(one, knowledge.get, "news", "topic") for one in (acme, beta)]

    within(acme, knowledge.forget, "news")
    assert (*found, knowledge.get("news", "topic")) == ("from acme", None, None)
