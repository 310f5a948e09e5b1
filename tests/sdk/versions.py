"""The versions of the SDKs: the script to read first."""

from importlib.metadata import version

from answering import answer


async def versions(names: list[str]) -> dict[str, str]:
    """Return the installed version of each."""
    return {name: version(name) for name in names}


if __name__ == "__main__":
    answer(versions)
