// Keys: one listener for all, none while a person types, with a modifier, or before a dialog.

import { useLayoutEffect, useRef } from "./ui.js";

const layers = [];
const FIELDS = "input:not([type=checkbox]):not([type=radio]), textarea, select, [contenteditable]";
const PRESSED = "a, button, summary, [role=button]";

// Take keys while a component is shown: `keys` maps `event.key` to a function. What is shown later
// comes first; a function that returns false passes the key on. `g c` is c within a second after g.
// What is seen takes its keys at once: an effect that waits for the next frame would lose some.
export function useKeys(keys) {
  const now = useRef(keys);
  now.current = keys;
  useLayoutEffect(() => {
    layers.push(now);
    return () => layers.splice(layers.indexOf(now), 1);
  }, []);
}

// Move the focus among the rows of a list with `j` and `k` and the arrows; a row is what has
// `data-row`. `more` is called at the last one.
export function useRowKeys(box, more) {
  const move = (by) => () => {
    const rows = [...(box.current?.querySelectorAll("[data-row]") ?? [])];
    if (!rows.length) return false;
    const from = rows.indexOf(document.activeElement);
    const to = from < 0 ? (by > 0 ? 0 : rows.length - 1) : from + by;
    if (to >= rows.length - 1) more?.();
    rows[Math.max(0, Math.min(rows.length - 1, to))].focus();
    return true;
  };
  useKeys({ j: move(1), k: move(-1), ArrowDown: move(1), ArrowUp: move(-1) });
}

let first = null;

function pressed(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
  if (document.querySelector("dialog[open]")) return;
  const target = event.target;
  if (target.closest?.(FIELDS)) {
    if (event.key === "Escape" && target.type === "search") target.blur();
    return;
  }
  if ((event.key === "Enter" || event.key === " ") && target.closest?.(PRESSED)) return;
  const chord = first && event.timeStamp - first < 1000 ? `g ${event.key}` : null;
  first = event.key === "g" && !chord ? event.timeStamp : null;
  for (const layer of [...layers].reverse()) {
    const taken = (chord && layer.current[chord]) || (!chord && layer.current[event.key]);
    if (taken && taken(event) !== false) {
      event.preventDefault();
      return;
    }
  }
}

addEventListener("keydown", pressed);
