"""The rules about claims in `auth.openid`, in each way that they may be written."""

from pathlib import Path

import pytest

from prolocutor.config.loading import load
from prolocutor.plugins.openid.openid_settings import ClaimRule

FILE = """
auth: {{openid: {{issuer: "https://id.example.org", client_id: us, {rest}}}}}
skills: {{echo: {{call: "https://echo.example"}}}}
"""
GROUPS = ClaimRule(claim="groups", values=("a",))


@pytest.mark.parametrize(
    ("written", "rules"),
    [
        ("{groups: a}", (GROUPS,)),
        ("{groups: [a]}", (GROUPS,)),
        ("{claim: groups, value: a}", (GROUPS,)),
        ("[{groups: [a]}, {admin: true}]", (GROUPS, ClaimRule(claim="admin"))),
        ("{groups: a, x.y: b}", (GROUPS, ClaimRule(claim="x.y", values=("b",)))),
        (
            "{claim: groups, values: [a, b], scopes: [read]}",
            (ClaimRule(claim="groups", values=("a", "b"), scopes=("read",)),),
        ),
        (
            "{claim: groups, values: {a: [admin], b: [read, operate]}}",
            (GROUPS, ClaimRule(claim="groups", values=("b",), scopes=("read", "operate"))),
        ),
    ],
)
def test_a_rule_may_be_short_or_long(
    tmp_path: Path, written: str, rules: tuple[ClaimRule, ...]
) -> None:
    file = tmp_path / "assistant.yaml"
    file.write_text(FILE.format(rest=f"operators: {written}, session: 7d, idle: 15m"))

    openid = load(file).auth.sign_in["openid"]

    assert openid.operators == rules
    assert openid.session == 7 * 86_400
    assert openid.idle == 900
