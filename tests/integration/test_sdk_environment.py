"""The environment of the SDKs: scripts in it can be called, and it holds what it should."""

import re

import pytest

from tests.sdk_environment import ROOT, SdkError, sdk_script

PINNED = dict(
    re.findall(r"^([\w-]+)==(\S+)$", (ROOT / "requirements" / "sdk.txt").read_text(), re.MULTILINE)
)
SDKS = ["a2a-sdk", "ag-ui-protocol", "mcp", "openai"]


async def test_a_script_is_called_among_the_pinned_sdks_and_its_exceptions_come_back() -> None:
    async with sdk_script("versions") as script:
        assert await script.call("versions", names=SDKS) == {name: PINNED[name] for name in SDKS}

        with pytest.raises(SdkError) as raised:
            await script.call("versions", names=["none"])

    assert raised.value.name == "PackageNotFoundError"
