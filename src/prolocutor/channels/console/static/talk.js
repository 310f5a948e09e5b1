// What was said in one conversation: fetched by pages from its beginning, then what is new.

import { get } from "./api.js";
import { keepFetching } from "./fetching.js";
import { useEffect, useMemo, useRef, useState } from "./ui.js";

const PAGE = 200;

// Fetch a conversation and keep it up to date; `value` is its head with all `items` so far.
export function useTalk(id) {
  const talk = useMemo(() => new Talk(id), [id]);
  const [state, setState] = useState({});
  const fetching = useRef(null);
  useEffect(() => {
    const now = keepFetching((signal) => talk.refresh(signal, (value) => setState({ talk, value })), 4, (came) =>
      setState((old) => ({ ...(old.talk === talk ? old : {}), error: null, ...came, talk })));
    fetching.current = now;
    return now.stop;
  }, [talk]);
  const mine = state.talk === talk ? state : {};
  return { value: null, error: null, at: 0, next: 0, tries: 0, ...mine, again: () => fetching.current?.again() };
}

class Talk {
  constructor(id) {
    Object.assign(this, { id, pages: [], cursor: undefined });
  }

  // Fetch the last page again and all that follow it; `show` gets each state on the way.
  async refresh(signal, show) {
    const path = `/conversations/${encodeURIComponent(this.id)}`;
    let after = this.cursor;
    for (;;) {
      const { items = [], next = null, ...head } = await get(path, { after, limit: PAGE }, { signal });
      const known = this.pages.findIndex((page) => page.after === after);
      this.pages.splice(known < 0 ? this.pages.length : known, this.pages.length, { after, items });
      this.cursor = after;
      const value = { ...head, items: this.pages.flatMap((page) => page.items), whole: next === null };
      if (next === null) return value;
      show(value);
      after = next;
    }
  }
}
