"""Letters without their accents, as many people type them."""

_PLAIN = str.maketrans("àáâäçèéêëìíîïñòóôöùúûü", "aaaaceeeeiiiinoooouuuu")


def without_accents(text: str) -> str:
    """Return a text in lower case without accents, of the same length."""
    return text.translate(_PLAIN)


def key_of(name: str) -> str:
    """Return how a name is looked up: in lower case, without accents, "ß" as "ss"."""
    return without_accents(name.lower()).replace("ß", "ss").replace("-", " ").replace("’", "'")
