"""BrokerOrStore: hints through a broker, and through the store while the broker is away."""

from __future__ import annotations

from collections.abc import Callable

from prolocutor.contracts.shared_store import BrokerWakeUps, WakeUps


class BrokerOrStore:
    """Sends hints through the broker while it is connected, else through the store; hears both."""

    def __init__(self, broker: BrokerWakeUps, store: WakeUps) -> None:
        self._broker = broker
        self._store = store

    def wake(self, user: str) -> None:
        """Send a hint that this person has something new."""
        (self._broker if self._broker.is_connected else self._store).wake(user)

    def on_wake(self, listener: Callable[[str], None]) -> None:
        """Call `listener(user)` for each hint of another replica."""
        self._broker.on_wake(listener)
        self._store.on_wake(listener)
