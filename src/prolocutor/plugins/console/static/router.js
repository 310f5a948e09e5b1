// The address is the state: which page, which filters, which turn. Nothing else holds it.

import { useEffect, useLayoutEffect, useState } from "./ui.js";

const BASE = "/console";
const SCROLLS = "prolocutor.console.scrolls";

const heard = new Set();
const scrolls = read();

// Give where we are: `page`, the rest of the path decoded, the query, and the address as `whole`.
export function address() {
  const [page = "", ...rest] = location.pathname.slice(BASE.length).split("/").filter(Boolean).map(decoded);
  return { page: page || "conversations", rest, query: new URLSearchParams(location.search), whole: whole() };
}

// Give the address of a page: `path` is a list of parts, `query` an object or URLSearchParams, in
// which empty values are left out.
export function link(path, query = {}) {
  const pairs = query instanceof URLSearchParams ? [...query] : Object.entries(query);
  const kept = pairs.filter(([, value]) => value !== "" && value !== null && value !== undefined);
  const search = new URLSearchParams(kept.map(([key, value]) => [key, String(value)])).toString();
  return `${BASE}/${path.map((part) => encodeURIComponent(part)).join("/")}${search ? `?${search}` : ""}`;
}

// Give the address of where we are with other values in the query.
export function here(changes) {
  const at = address();
  return link([at.page, ...at.rest], { ...Object.fromEntries(at.query), ...changes });
}

// Go to an address; `replace` leaves no entry in the history.
export function go(to, { replace = false } = {}) {
  if (replace) history.replaceState(history.state, "", to);
  else history.pushState({ from: whole() }, "", to);
  moved();
}

// Go up to an address: back, where we came from there.
export function up(to) {
  if (history.state?.from === to) history.back();
  else go(to);
}

// Follow the address, from the moment in which the page is seen.
export function useAddress() {
  const [at, setAt] = useState(address);
  useLayoutEffect(() => {
    const changed = () => setAt(address());
    heard.add(changed);
    return () => heard.delete(changed);
  }, []);
  return at;
}

// Remember how far an element is scrolled at an address (`at.whole`), and which row had the focus;
// restore both once it is `ready`.
export function useScroll(element, ready, mine) {
  useEffect(() => {
    const box = element.current;
    if (!box || !ready) return undefined;
    const { top = 0, focus = null } = scrolls[mine] ?? {};
    box.scrollTop = top;
    if (focus) box.querySelector(`[data-row="${CSS.escape(focus)}"]`)?.focus({ preventScroll: true });
    const keep = () => {
      const row = document.activeElement?.dataset?.row;
      scrolls[mine] = { top: box.scrollTop, focus: row ?? scrolls[mine]?.focus };
      write();
    };
    box.addEventListener("scroll", keep, { passive: true });
    box.addEventListener("focusin", keep);
    return () => {
      box.removeEventListener("scroll", keep);
      box.removeEventListener("focusin", keep);
    };
  }, [ready, mine]);
}

function moved() {
  heard.forEach((changed) => changed());
}

function whole() {
  return location.pathname + location.search;
}

function decoded(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

// Follow links to our own pages without loading them anew.
function clicked(event) {
  if (event.defaultPrevented || event.button || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
  const anchor = event.target.closest?.("a[href]");
  if (!anchor || anchor.target || anchor.hasAttribute("download") || anchor.origin !== location.origin) return;
  if (anchor.pathname !== BASE && !anchor.pathname.startsWith(`${BASE}/`)) return;
  event.preventDefault();
  const to = anchor.pathname + anchor.search;
  if (to !== whole()) go(to, { replace: anchor.dataset.replace !== undefined });
}

function read() {
  try {
    const kept = JSON.parse(sessionStorage.getItem(SCROLLS));
    return kept && typeof kept === "object" ? kept : {};
  } catch {
    return {};
  }
}

function write() {
  const old = Object.keys(scrolls);
  if (old.length > 100) delete scrolls[old[0]];
  try {
    sessionStorage.setItem(SCROLLS, JSON.stringify(scrolls));
  } catch {
    // Without storage it is known until the page is loaded anew.
  }
}

history.scrollRestoration = "manual";
addEventListener("popstate", moved);
document.addEventListener("click", clicked);
