"""Whose address counts: the connection's, or what trusted proxies say, and nothing forged."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prolocutor.errors import ConfigError
from prolocutor.web.client_address import ClientAddresses, client_name

TRUSTED = ClientAddresses(["10.0.0.0/8", "192.0.2.7", "2001:db8::/32"])

HEADERS = [
    # what proxies say, who is connected, whose request it is
    ("", "203.0.113.9", "203.0.113.9"),
    ("x-forwarded-for: 198.51.100.1", "203.0.113.9", "203.0.113.9"),
    ("x-forwarded-for: 198.51.100.1", "10.1.2.3", "198.51.100.1"),
    ("x-forwarded-for: 6.6.6.6, 198.51.100.1", "10.1.2.3", "198.51.100.1"),
    ("x-forwarded-for: 6.6.6.6, 198.51.100.1, 10.9.9.9", "192.0.2.7", "198.51.100.1"),
    ("x-forwarded-for: 10.5.5.5", "10.1.2.3", "10.5.5.5"),
    ("x-forwarded-for: 198.51.100.1:4711", "10.1.2.3", "198.51.100.1"),
    ("x-forwarded-for: [2001:abc::1]:4711", "10.1.2.3", "2001:abc::1"),
    ("x-forwarded-for: ::ffff:198.51.100.1", "::ffff:10.1.2.3", "198.51.100.1"),
    ("x-forwarded-for: 6.6.6.6, nonsense", "10.1.2.3", "10.1.2.3"),
    ("x-forwarded-for: 6.6.6.6, , 10.2.2.2", "10.1.2.3", "10.2.2.2"),
    ("x-forwarded-for: 6.6.6.6|x-forwarded-for: 198.51.100.1", "10.1.2.3", "198.51.100.1"),
    ("forwarded: for=198.51.100.1;proto=https", "10.1.2.3", "198.51.100.1"),
    ('forwarded: for=6.6.6.6, proto=https;For="[2001:abc::1]:80"', "10.1.2.3", "2001:abc::1"),
    ("forwarded: for=6.6.6.6, for=unknown", "10.1.2.3", "10.1.2.3"),
    ("forwarded: for=6.6.6.6, for=_hidden, for=10.2.2.2", "10.1.2.3", "10.2.2.2"),
    # of two headers a proxy writes one, and the client may have written the other
    ("forwarded: for=6.6.6.6|x-forwarded-for: 198.51.100.1", "10.1.2.3", "10.1.2.3"),
    ("forwarded: for=198.51.100.1|x-forwarded-for: 198.51.100.1", "10.1.2.3", "198.51.100.1"),
    ("x-real-ip: 6.6.6.6", "10.1.2.3", "10.1.2.3"),
]


def pairs(text: str) -> list[tuple[bytes, bytes]]:
    lines = [line.partition(": ") for line in text.split("|") if line]
    return [(name.encode(), value.encode("latin-1")) for name, _, value in lines]


@pytest.mark.parametrize(("headers", "peer", "expected"), HEADERS)
def test_the_right_most_hop_that_is_not_trusted_is_the_client(
    headers: str, peer: str, expected: str
) -> None:
    assert TRUSTED.find(pairs(headers), peer) == expected


@given(st.text(st.characters(max_codepoint=255), max_size=80), st.sampled_from(["f", "x", "fx"]))
def test_addresses_written_by_a_client_to_the_left_change_nothing(forged: str, where: str) -> None:
    seen = []
    for left in ("", forged.replace('"', "").replace("|", "") + ", "):
        headers = pairs(f"x-forwarded-for: {left}198.51.100.1") if "x" in where else []
        headers += pairs(f"forwarded: {left}for=198.51.100.1") if "f" in where else []
        seen.append(TRUSTED.find(headers, "10.1.2.3"))

    assert seen == ["198.51.100.1"] * 2


@given(st.text(st.characters(max_codepoint=255), max_size=200))
def test_no_header_breaks_the_search(value: str) -> None:
    headers = [
        (b"forwarded", value.encode("latin-1")),
        (b"x-forwarded-for", value.encode("latin-1")),
    ]

    assert TRUSTED.find(headers, "10.1.2.3")
    assert ClientAddresses().find(headers, "10.1.2.3") == "10.1.2.3"


def test_an_ipv6_client_is_counted_by_its_network() -> None:
    assert client_name("2001:db8:1:2:3::4") == client_name("2001:db8:1:2::") == "2001:db8:1:2::/64"
    assert client_name("::ffff:192.0.2.1") == client_name("192.0.2.1") == "192.0.2.1"
    assert client_name("nonsense") == "nonsense"


def test_an_invalid_network_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"trusted_proxies: 'proxy' is not an address"):
        ClientAddresses(["proxy"])
