// What was said in one conversation: the newest turns, or those around one; more on demand.

import { get } from "./api.js";
import { keepFetching } from "./fetching.js";
import { listOf } from "./parts.js";
import { useEffect, useMemo, useRef, useState } from "./ui.js";

const PAGE = 100;
const TAIL = 30;

// Fetch a conversation and keep its end up to date; `value` is its head with the `items` so far.
// `earlier` and `later` fetch more where `value.previous` or `value.next` is not null.
export function useTalk(id, around) {
  const talk = useMemo(() => new Talk(id, around), [id]);
  const [state, setState] = useState({});
  const fetching = useRef(null);
  useEffect(() => {
    const put = (came) => setState((old) => ({ ...(old.talk === talk ? old : {}), error: null, ...came, talk }));
    talk.show = (value) => put({ value, at: Date.now() });
    const now = keepFetching((signal) => talk.refresh(signal), 4, put);
    fetching.current = now;
    return now.stop;
  }, [talk]);
  const mine = state.talk === talk ? state : {};
  return {
    value: null, error: null, at: 0, next: 0, tries: 0, ...mine, again: () => fetching.current?.again(),
    earlier: () => talk.more("before", talk.value?.previous), later: () => talk.more("after", talk.value?.next),
  };
}

const keyOf = (one) => one.position ?? one.utt_id;

class Talk {
  constructor(id, around) {
    Object.assign(this, { path: `/conversations/${encodeURIComponent(id)}`, around, value: null, busy: false, show: () => {} });
  }

  // Fetch the conversation for the first time, or its last turns again with what followed.
  async refresh(signal) {
    if (!this.value) return (this.value = await this.begin(signal));
    const { items, previous } = this.value;
    const from = items.length > TAIL ? items.at(-TAIL - 1).position : previous === null ? undefined : previous - 1;
    const came = await get(this.path, { after: from, limit: PAGE }, { signal });
    return this.take(came, { previous: this.value.previous });
  }

  async begin(signal) {
    try {
      return await get(this.path, this.around ? { around: this.around, limit: PAGE } : { newest: true, limit: PAGE }, { signal });
    } catch (error) {
      if (!this.around || error.field !== "around") throw error;
      return get(this.path, { newest: true, limit: PAGE }, { signal });
    }
  }

  async more(side, place) {
    if (this.busy || place === null || place === undefined) return;
    this.busy = true;
    try {
      const came = await get(this.path, { [side]: place, limit: PAGE });
      this.show(this.take(came, side === "before" ? { next: this.value.next } : { previous: this.value.previous }));
    } catch {
      // The end of the list comes into view again, and what is shown is refreshed all the time.
    }
    this.busy = false;
  }

  // Put turns that came among those that are there, each once, in their order.
  take(came, kept) {
    const all = new Map(this.value.items.map((one) => [keyOf(one), one]));
    for (const one of listOf(came.items)) all.set(keyOf(one), one);
    const items = [...all.values()].sort((one, other) => one.position - other.position);
    const beyond = came.items.length > 0 && keyOf(items.at(-1)) !== keyOf(came.items.at(-1));
    this.value = { ...came, ...kept, ...(beyond ? { next: this.value.next } : {}), items };
    return this.value;
  }
}
