// What comes from the server and stays fresh: again every few seconds while somebody looks, again
// after a failure, and what came before stays on the page meanwhile.
//
// All hooks give `{value, error, at, next, tries, again}`: `value` is null until it came, `error`
// is that of the last try, `at` when the value came and `next` when it is tried again (both
// `Date.now()`), `again` tries at once.

import { get } from "./api.js";
import { useEffect, useMemo, useRef, useState } from "./ui.js";

const RETRY = [1, 2, 4, 8, 15];
const KEPT = 60;
const EMPTY = { value: null, error: null, at: 0, next: 0, tries: 0 };

const kept = new Map();

// Fetch what stands at a path below `/api/console` (null: nothing), again every so many seconds.
export function useFetched(path, query = {}, { every = 0 } = {}) {
  const name = path && `${path}?${JSON.stringify(query)}`;
  const [state, setState] = useState(() => ({ name, ...(kept.get(name) ?? EMPTY) }));
  const fetching = useRef(null);
  const put = (value) => setState((old) => remember(name, { ...EMPTY, name, value, at: old.at }));
  useEffect(() => {
    if (!path) return undefined;
    setState({ name, ...(kept.get(name) ?? EMPTY) });
    const now = keepFetching((signal) => get(path, query, { signal }), every, (came) =>
      setState((old) => remember(name, "value" in came
        ? { ...EMPTY, name, ...came }
        : { ...(old.name === name ? old : EMPTY), name, ...came })));
    fetching.current = now;
    const mine = { path, again: now.again };
    fetchers.add(mine);
    return () => (fetchers.delete(mine), now.stop());
  }, [name, every]);
  const shown = state.name === name ? state : { ...EMPTY, ...(kept.get(name) ?? {}) };
  return { ...shown, put, again: () => fetching.current?.again() };
}

const fetchers = new Set();

// Fetch again whatever of a path is shown, as what it counts was changed here.
export const refresh = (path) => fetchers.forEach((one) => one.path === path && one.again());

// Fetch what another door has for the console; nothing where the assistant has no such door.
export function useDoorData(operator, path, query = {}, options = {}) {
  return useFetched(operator.data?.includes(`/api/console${path}`) ? path : null, query, options);
}

// Fetch a list by pages; `value` is the rows so far, each once by `id`. `more` fetches the next
// page where `next page` is there (`hasMore`); `fresh` counts rows that came since, which stay out
// until `show`. What stands there is brought up to date in place; `gone` holds the ids of rows that
// do not belong there any more, which stay until the list is opened anew.
export function usePages(path, query = {}, { id, every = 0, size = 50 }) {
  const name = `${path}?${JSON.stringify(query)}`;
  const list = useMemo(() => kept.get(name)?.list ?? new Rows(path, query, id, size), [name]);
  const [, redraw] = useState(0);
  const fetching = useRef(null);
  useEffect(() => {
    let shown = true;
    list.changed = () => {
      if (!shown) return;
      remember(name, { list });
      redraw((n) => n + 1);
    };
    list.open();
    list.changed();
    const now = keepFetching((signal) => list.refresh(signal), every, (came) => list.came(came));
    fetching.current = now;
    return () => {
      shown = false;
      now.stop();
    };
  }, [name, every]);
  return {
    ...list.state, value: list.rows, hasMore: list.cursor !== null, fresh: list.fresh.size, gone: list.gone, allFresh: list.fresh.size >= size, busy: list.busy,
    more: () => list.more(), show: () => list.show(), change: (row, changes) => list.change(row, changes),
    again: () => fetching.current?.again(),
  };
}

// The rows of a list that is fetched by pages.
class Rows {
  constructor(path, query, id, size) {
    Object.assign(this, { path, query, id, size, rows: null, cursor: null, busy: false, fresh: new Set(), gone: new Set(), state: EMPTY, changed: () => {} });
  }

  async refresh(signal) {
    return get(this.path, { ...this.query, limit: this.size }, { signal });
  }

  // Take the first page: at first whole, later what it says of the rows that stand there.
  came({ value, ...state }) {
    this.state = { ...this.state, error: null, tries: 0, ...state };
    if (value) {
      const items = value.items ?? [];
      if (this.rows === null || !this.rows.length) this.begin(value);
      else {
        const news = new Map(items.map((one) => [this.id(one), one]));
        const known = new Set(this.rows.map(this.id));
        this.fresh = new Set([...news.keys()].filter((one) => !known.has(one)));
        this.rows = this.rows.map((one) => news.get(this.id(one)) ?? one);
        this.gone = this.missing(news, value.next ?? null);
      }
      this.first = value;
    }
    this.changed();
  }

  // Give the ids of the rows that should have been on the first page and were not.
  missing(news, next) {
    const ids = this.rows.map(this.id);
    const last = next === null ? ids.length : ids.findLastIndex((one) => news.has(one));
    return new Set(ids.slice(0, Math.max(0, last)).filter((one) => !news.has(one)));
  }

  begin({ items = [], next = null }) {
    Object.assign(this, { rows: items, cursor: next, fresh: new Set(), gone: new Set() });
  }

  // Drop the rows that do not belong there any more, when the list is opened anew.
  open() {
    if (this.gone.size) this.rows = this.rows.filter((one) => !this.gone.has(this.id(one)));
    this.gone = new Set();
  }

  // Show what is new, from the top on.
  show() {
    if (this.first) this.begin(this.first);
    this.changed();
  }

  change(id, changes) {
    this.rows = this.rows?.flatMap((one) => (this.id(one) !== id ? [one] : changes ? [{ ...one, ...changes }] : []));
    this.changed();
  }

  async more() {
    if (this.busy || this.cursor === null) return;
    this.busy = true;
    this.changed();
    const cursor = this.cursor;
    try {
      const { items = [], next = null } = await get(this.path, { ...this.query, cursor, limit: this.size });
      if (cursor === this.cursor) {
        const known = new Set(this.rows.map(this.id));
        this.rows = [...this.rows, ...items.filter((one) => !known.has(this.id(one)))];
        this.cursor = next;
        this.state = { ...this.state, moreError: null };
      }
    } catch (error) {
      this.state = { ...this.state, moreError: error };
    }
    this.busy = false;
    this.changed();
  }
}

// Call `load(signal)` now, every so many seconds, and after a failure; tell `show` each time:
// `{value, at}` or `{error, next, tries}`.
export function keepFetching(load, every, show) {
  let timer = null;
  let running = null;
  let tries = 0;
  let due = false;

  async function fetchNow() {
    clearTimeout(timer);
    due = false;
    running?.abort();
    const mine = new AbortController();
    running = mine;
    let wait = every;
    try {
      const value = await load(mine.signal);
      if (mine.signal.aborted) return;
      tries = 0;
      show({ value, at: Date.now() });
    } catch (error) {
      if (mine.signal.aborted) return;
      if (error.status === undefined) throw error;
      wait = error.passes ? error.wait ?? RETRY[Math.min(tries, RETRY.length - 1)] : 0;
      tries += 1;
      show({ error, tries, next: wait ? Date.now() + 1000 * wait : 0 });
    }
    if (wait) timer = setTimeout(come, 1000 * wait);
  }

  function come() {
    if (document.hidden) due = true;
    else fetchNow();
  }

  const seen = () => due && !document.hidden && fetchNow();
  const online = () => tries && fetchNow();
  document.addEventListener("visibilitychange", seen);
  addEventListener("online", online);
  fetchNow();
  return {
    again: fetchNow,
    stop() {
      clearTimeout(timer);
      running?.abort();
      document.removeEventListener("visibilitychange", seen);
      removeEventListener("online", online);
    },
  };
}

// Forget all that was fetched, as when another operator comes.
export function forget() {
  kept.clear();
}

function remember(name, state) {
  kept.delete(name);
  kept.set(name, state);
  if (kept.size > KEPT) kept.delete(kept.keys().next().value);
  return state;
}
