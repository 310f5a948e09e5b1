"""Who is let in, and as whom."""

from hashlib import blake2b

import pytest
from msgspec import structs

from prolocutor.contracts.http import Visitor
from prolocutor.errors import ConfigError, Forbidden, Unauthenticated
from prolocutor.web.authentication import LOCAL, OPERATOR, AccessPolicy, Authenticator, is_loopback

OPEN = AccessPolicy()
KEY = structs.replace(OPERATOR, key=blake2b(b"key", digest_size=8).hexdigest())
AUTH = AccessPolicy(keys=["key"], tokens={"token": "ann", "\u0442\u043e\u043a\u0435\u043d": "bob"})
HERE, THERE = "127.0.0.1", "192.0.2.7"


def person(name: str, *prefixes: str) -> Visitor:
    return Visitor("person", name, frozenset(prefix + name for prefix in prefixes or ("",)))


def bearer(secret: str) -> dict[bytes, bytes]:
    return {b"authorization": f"Bearer {secret}".encode()}


@pytest.mark.parametrize(
    ("secret", "visitor"),
    [
        ("key", KEY),
        ("token", person("ann")),
        ("\u0442\u043e\u043a\u0435\u043d", person("bob")),
    ],
)
@pytest.mark.parametrize("client", [HERE, THERE, None])
def test_a_key_or_token_says_who_comes(secret: str, visitor: Visitor, client: str | None) -> None:
    assert Authenticator(AUTH).admit(bearer(secret), b"", client) == visitor


def test_a_person_is_the_same_one_at_every_door() -> None:
    keeper = Authenticator(AUTH, prefixes=["", "almond:"])

    assert keeper.admit(bearer("token"), b"", THERE) == person("ann", "", "almond:")


def test_a_token_in_the_query_may_be_quoted() -> None:
    keeper = Authenticator(AccessPolicy(tokens={"a b&c": "ann"}))

    visitor = keeper.admit({}, b"x=1&access_token=a+b%26c", THERE)

    assert visitor == person("ann")


def test_the_header_counts_before_the_query() -> None:
    assert Authenticator(AUTH).admit(bearer("key"), b"access_token=token", THERE) == KEY


@pytest.mark.parametrize("client", [HERE, THERE])
@pytest.mark.parametrize(
    ("headers", "query"),
    [
        (bearer("Key"), b""),
        (bearer("key "[:-1] + "y"), b""),
        (bearer(""), b""),
        ({b"authorization": b"Basic a2V5"}, b""),
        ({b"authorization": b"\xff\xfe"}, b""),
        ({}, b"access_token="),
        ({}, b"access_token=%ff"),
        ({}, b"access_token=token&access_token=guess"),
    ],
)
def test_a_wrong_secret_helps_nobody(
    headers: dict[bytes, bytes], query: bytes, client: str
) -> None:
    with pytest.raises(Unauthenticated):
        Authenticator(AUTH).admit(headers, query, client)


@pytest.mark.parametrize("host", [b"localhost", b"LOCALHOST:4242", b"127.0.0.1:1", b"[::1]:4242"])
@pytest.mark.parametrize("client", ["127.0.0.1", "127.8.8.8", "::1", "::ffff:127.0.0.1"])
def test_who_sits_here_is_an_operator_while_there_are_no_keys(client: str, host: bytes) -> None:
    assert Authenticator(OPEN).admit({b"host": host}, b"", client) == LOCAL
    with pytest.raises(Unauthenticated):
        Authenticator(AUTH).admit({b"host": host}, b"", client)


def test_who_sits_here_is_an_operator_beside_keys_where_the_policy_says_so() -> None:
    policy = AccessPolicy(keys=["key"], loopback=True)

    assert Authenticator(policy).admit({b"host": b"localhost"}, b"", HERE) == LOCAL


def test_the_key_of_this_process_does_not_count_as_one() -> None:
    keeper = Authenticator(AccessPolicy(own_key="own"))

    assert keeper.admit(bearer("own"), b"", THERE) == LOCAL
    assert keeper.admit({b"host": b"localhost"}, b"", HERE) == LOCAL
    assert keeper.admit(bearer("any"), b"", HERE, any_secret=True) == LOCAL


@pytest.mark.parametrize(
    ("headers", "client"),
    [
        ({}, THERE),
        ({}, "::2"),
        ({}, "unix"),
        ({}, None),
        ({b"host": b"evil.example"}, HERE),
        ({b"host": b"localhost.evil.example"}, HERE),
        ({b"host": b"[::1"}, HERE),
        ({b"host": b"\xff"}, HERE),
        ({b"host": b""}, HERE),
        ({b"x-forwarded-for": b"127.0.0.1"}, HERE),
        ({b"forwarded": b"for=127.0.0.1"}, HERE),
        ({b"x-real-ip": b"127.0.0.1"}, HERE),
        ({b"via": b"1.1 proxy"}, HERE),
        ({b"x-forwarded-proto": b"https"}, HERE),
        ({b"cf-connecting-ip": b"127.0.0.1"}, HERE),
        ({b"client-ip": b"127.0.0.1"}, HERE),
        ({b"x-remote-addr": b"127.0.0.1"}, HERE),
        ({b"forwarded-for": b"127.0.0.1"}, HERE),
    ],
)
def test_everybody_else_needs_a_key(headers: dict[bytes, bytes], client: str | None) -> None:
    with pytest.raises(Unauthenticated):
        Authenticator(OPEN).admit(headers, b"", client)


def test_everybody_else_is_anonymous_where_that_is_allowed() -> None:
    assert Authenticator(AccessPolicy(anonymous=True)).admit({}, b"", THERE) == Visitor("anonymous")


@pytest.mark.parametrize("secret", [None, "own"])
def test_who_sits_here_is_a_stranger_where_strangers_come_in(secret: str | None) -> None:
    keeper = Authenticator(AccessPolicy(anonymous=True, own_key="own"))
    headers = {b"host": b"127.0.0.1", **(bearer(secret) if secret else {})}

    visitor = keeper.admit(headers, b"", HERE)

    assert visitor == (LOCAL if secret else Visitor("anonymous"))


@pytest.mark.parametrize("client", [HERE, "10.0.0.1"])
def test_where_everybody_comes_in_pages_of_other_sites_do_not(client: str) -> None:
    keeper = Authenticator(AccessPolicy(everybody=True))
    keeper.check_may_listen(["0.0.0.0"])
    page = {b"host": b"agent:4242", b"origin": b"http://elsewhere"}

    assert keeper.admit({b"host": b"agent:4242"}, b"", client) == LOCAL
    with pytest.raises(Forbidden):
        keeper.admit(page, b"", client)


def test_loopback_is_not_trusted_beside_strangers() -> None:
    with pytest.raises(ConfigError, match=r"^auth\.loopback: with auth\.anonymous strangers"):
        Authenticator(AccessPolicy(anonymous=True, loopback=True))
    with pytest.raises(ConfigError, match=r"^auth\.loopback: with the address 0\.0\.0\.0 "):
        Authenticator(AccessPolicy(["key"], loopback=True)).check_may_listen(["0.0.0.0"])


@pytest.mark.parametrize(
    ("policy", "lacks"),
    [
        (AccessPolicy(anonymous=True), True),
        (AccessPolicy(tokens={"t": "ann"}), True),
        (AccessPolicy(), False),
        (AccessPolicy(keys=["key"], anonymous=True), False),
        (AccessPolicy(sign_in=True), False),
    ],
)
def test_where_no_key_makes_an_operator_it_is_known(policy: AccessPolicy, lacks: bool) -> None:
    assert Authenticator(policy).lacks_operators == lacks


def test_who_sits_here_needs_a_key_where_nobody_is_trusted() -> None:
    with pytest.raises(Unauthenticated):
        Authenticator(AccessPolicy(loopback=False)).admit({}, b"", HERE)


@pytest.mark.parametrize(
    "origin", [b"https://evil.example", b"null", b"http://localhost:1", b"http://["]
)
def test_a_page_of_another_site_is_not_who_sits_here(origin: bytes) -> None:
    headers = {b"host": b"localhost:4242", b"origin": origin}

    with pytest.raises(Forbidden):
        Authenticator(OPEN).admit(headers, b"", HERE)
    with pytest.raises(Forbidden):
        Authenticator(OPEN, ["*"]).admit(headers, b"", HERE)


@pytest.mark.parametrize(("mode", "admitted"), [(b"no-cors", False), (b"navigate", True)])
def test_a_load_by_a_page_of_another_site_is_no_link(mode: bytes, admitted: bool) -> None:
    sent = {b"sec-fetch-site": b"cross-site", b"sec-fetch-mode": mode}
    headers = {b"host": b"localhost:4242", **sent}

    if admitted:
        assert Authenticator(OPEN).admit(headers, b"", HERE) == LOCAL
    else:
        with pytest.raises(Forbidden):
            Authenticator(OPEN).admit(headers, b"", HERE)


@pytest.mark.parametrize("origin", [b"http://localhost:4242", b"https://friend.example"])
def test_our_own_page_and_a_friends_are(origin: bytes) -> None:
    headers = {b"host": b"localhost:4242", b"origin": origin}

    assert Authenticator(OPEN, ["https://friend.example"]).admit(headers, b"", HERE) == LOCAL


def test_a_socket_of_another_sites_page_is_refused_even_with_a_key() -> None:
    headers = {b"host": b"a.example", b"origin": b"https://evil.example", **bearer("key")}

    with pytest.raises(Forbidden):
        Authenticator(AUTH).admit_socket(headers, b"", THERE)
    assert Authenticator(AUTH, ["*"]).admit_socket(headers, b"", THERE) == KEY


@pytest.mark.parametrize("secret", ["token", None])
def test_addresses_for_operators_are_for_nobody_else(secret: str | None) -> None:
    keeper = Authenticator(AccessPolicy(tokens={"token": "ann"}, anonymous=True))

    with pytest.raises(Forbidden):
        keeper.admit(bearer(secret) if secret else {}, b"", THERE, "operators")


@pytest.mark.parametrize(
    "auth",
    [
        AccessPolicy(keys=[""]),
        AccessPolicy(keys=["k", ""]),
        AccessPolicy(tokens={"": "ann"}),
        AccessPolicy(tokens={"t": ""}),
    ],
)
def test_an_empty_secret_is_refused(auth: AccessPolicy) -> None:
    with pytest.raises(ConfigError, match="empty"):
        Authenticator(auth)


def test_secrets_are_not_shown() -> None:
    assert repr(AUTH) == "<Auth: 1 keys, 2 tokens>"


@pytest.mark.parametrize("address", ["0.0.0.0", "::", "10.0.0.1", "fe80::1%eth0"])
def test_the_world_is_not_listened_to_without_keys(address: str) -> None:
    with pytest.raises(ConfigError, match="can be reached from other machines"):
        Authenticator(AccessPolicy()).check_may_listen(["127.0.0.1", address])


@pytest.mark.parametrize("address", ["127.0.0.1", "::1", "127.1.2.3"])
def test_this_machine_is(address: str) -> None:
    Authenticator(AccessPolicy()).check_may_listen([address])

    assert is_loopback(address)
