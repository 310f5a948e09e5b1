"""Sign-ins that were begun in a browser: where they lead, and how many it keeps."""

import pytest

from prolocutor.plugins.openid.login_attempt import COOKIE, MAX_NEXT, forget_attempts, local_path

LONGEST = "/" + "a" * (MAX_NEXT - 1)


@pytest.mark.parametrize("path", ["/", "/chat?id=1#end", LONGEST])
def test_a_path_of_this_server_is_kept(path: str) -> None:
    assert local_path(path) == path


@pytest.mark.parametrize(
    "path", ["//evil.example", "/\\evil.example", "https://evil.example", "", "/a b", f"{LONGEST}a"]
)
def test_any_other_path_leads_home(path: str) -> None:
    assert local_path(path) == "/"


@pytest.mark.parametrize(("kept", "forgotten"), [(0, 4), (1, 3), (3, 1), (4, 0), (9, 0)])
def test_the_latest_attempts_are_kept(kept: int, forgotten: int) -> None:
    header = "; ".join(f"{COOKIE}{name}=x" for name in ("first", "second", "third", "fourth"))

    headers = forget_attempts(header, kept, secure=False)

    names = [one.partition("=")[0].removeprefix(COOKIE) for one in headers]
    assert names == ["first", "second", "third", "fourth"][:forgotten]
