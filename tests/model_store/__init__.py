"""The model of a store: dictionaries that can be read, which the contract kits are checked against.

Tests of other parts use it where a store is to count, to fail, or to be ready without `open`.
"""

from tests.model_store.model_store import ModelStore

__all__ = ["ModelStore"]
