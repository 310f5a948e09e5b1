"""StoreSharing: the parts that an assistant has only where other replicas use its store as well."""

from __future__ import annotations

from collections.abc import Callable

from prolocutor.assistant.agenda_scheduler import AgendaScheduler
from prolocutor.assistant.assistant_settings import ReplicaSettings
from prolocutor.assistant.feed import FeedListeners
from prolocutor.assistant.journal import Journal
from prolocutor.assistant.observer_group import ObserverGroup
from prolocutor.assistant.person_access import PersonAccess, shared_store
from prolocutor.assistant.services import ServiceSwitches
from prolocutor.assistant.shared_agenda import SharedAgenda
from prolocutor.assistant.stored_replies import StoredReplies
from prolocutor.assistant.succession import Succession
from prolocutor.assistant.turn_runner import TurnRunner
from prolocutor.assistant.wake_ups import BrokerOrStore
from prolocutor.clocks import SteadyClock
from prolocutor.contracts.shared_store import BrokerWakeUps, WakeUps, clock_of
from prolocutor.contracts.store import Store


class StoreSharing:
    """What one replica has of a shared store; where a process has the store alone, most is None.

    `clock` says what is due, `steady` when turns began: by it they, and what they left, get old.
    Both are the store's where it is shared.
    """

    access: PersonAccess | None = None
    agenda: SharedAgenda | None = None
    stored: StoredReplies | None = None

    def __init__(
        self,
        store: Store,
        replica: ReplicaSettings,
        broker: BrokerWakeUps | None,
        observers: ObserverGroup,
        queue_timeout: float,
    ) -> None:
        self._shared = shared = shared_store(store)
        self._replica = replica
        self._observers = observers
        self.clock = clock_of(store)
        self.steady: Callable[[], float] = SteadyClock() if shared is None else shared.clock
        wake_ups: WakeUps | None = shared
        if shared is not None and broker is not None:
            wake_ups = BrokerOrStore(broker, shared)
        self._wake_ups = wake_ups
        self.listeners = FeedListeners(wake_ups)
        if shared is not None:
            self.access = PersonAccess(shared, self.listeners, timeout=queue_timeout)
            self.agenda = SharedAgenda(shared, self.access, replica.lease)
            self.stored = StoredReplies(shared, self.access)

    def succession(
        self,
        journal: Journal,
        turns: TurnRunner,
        scheduler: AgendaScheduler,
        switches: ServiceSwitches,
    ) -> Succession | None:
        """Return what takes up the turns of replicas that died."""
        if self._shared is None or self.access is None or self._wake_ups is None:
            return None
        return Succession(
            self._shared,
            self._replica,
            access=self.access,
            journal=journal,
            turns=turns,
            scheduler=scheduler,
            listeners=self.listeners,
            wake_ups=self._wake_ups,
            switches=switches,
            observers=self._observers,
        )
