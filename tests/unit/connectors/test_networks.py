"""Which addresses are of the public internet."""

import pytest

from prolocutor.connectors.parts.connecting import address_network, reachable_networks


@pytest.mark.parametrize(
    ("address", "network"),
    [
        ("127.0.0.1", "loopback"),
        ("127.9.9.9", "loopback"),
        ("::1", "loopback"),
        ("::ffff:127.0.0.1", "loopback"),
        ("::ffff:7f00:1", "loopback"),
        ("8.8.8.8", "public"),
        ("2606:4700:4700::1111", "public"),
        ("::ffff:8.8.8.8", "public"),
        ("64:ff9b::8.8.8.8", "public"),
        ("64:ff9b::127.0.0.1", "private"),
        ("64:ff9b::a00:1", "private"),
        ("64:ff9b:1::808:808", "private"),
        ("2002:7f00:1::", "private"),
        ("2002:808:808::1", "private"),
        ("2001::1", "private"),
        ("2001:db8::1", "private"),
        ("3fff::1", "private"),
        ("fec0::1", "private"),
        ("fe80::1%eth0", "private"),
        ("fd00:ec2::254", "private"),
        ("ff02::1", "private"),
        ("::", "private"),
        ("::8.8.8.8", "private"),
        ("0.0.0.0", "private"),
        ("10.0.0.1", "private"),
        ("100.100.100.200", "private"),
        ("168.63.129.16", "private"),
        ("169.254.169.254", "private"),
        ("172.16.0.1", "private"),
        ("192.0.0.192", "private"),
        ("192.168.1.1", "private"),
        ("192.88.99.1", "private"),
        ("198.18.0.1", "private"),
        ("224.0.0.1", "private"),
        ("240.0.0.1", "private"),
        ("255.255.255.255", "private"),
        ("no address", "private"),
    ],
)
def test_an_address_is_in_one_network(address: str, network: str) -> None:
    assert address_network(address) == network


def test_who_is_in_a_network_leads_nowhere_less_public() -> None:
    assert reachable_networks("loopback") == {"loopback", "private", "public"}
    assert reachable_networks("private") == {"private", "public"}
    assert reachable_networks("public") == {"public"}
