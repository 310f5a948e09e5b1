"""StoppableTurns: the turns of this process that a person can stop."""

from __future__ import annotations

from prolocutor.dialog.inputs import TurnInput
from prolocutor.dialog.stop_signal import StopSignal


class StoppableTurns:
    """The signals of all turns that wait or run, in their order, by user and dialog."""

    def __init__(self) -> None:
        self._signals: dict[tuple[str, str], list[StopSignal]] = {}

    def enter(self, input: TurnInput) -> StopSignal:
        """Return the signal of a turn that is going to run."""
        signal = StopSignal()
        self._signals.setdefault((input.user, input.dialog), []).append(signal)
        return signal

    def leave(self, input: TurnInput, signal: StopSignal) -> None:
        """Forget the signal of a turn that has ended, or was refused."""
        signals = self._signals.get((input.user, input.dialog), [])
        if signal in signals:
            signals.remove(signal)
            if not signals:
                del self._signals[input.user, input.dialog]

    def has(self, user: str, dialog: str) -> bool:
        """Return whether a turn of a dialog waits or runs."""
        return (user, dialog) in self._signals

    def stop(self, user: str, dialog: str) -> bool:
        """Stop the first turn of a dialog that was not stopped; return whether there is one."""
        for signal in self._signals.get((user, dialog), ()):
            if not signal.is_set:
                signal.set()
                return True
        return False
