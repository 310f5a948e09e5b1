// The joint between a page and what it borrows: elements are written as html`<p>...</p>`.

import { h } from "./vendor/preact.mjs";
import htm from "./vendor/htm.mjs";

export { render } from "./vendor/preact.mjs";
export { useEffect, useLayoutEffect, useMemo, useReducer, useRef, useState } from "./vendor/hooks.mjs";

export const html = htm.bind(h);

const SHAPES = {
  send: "M4 12 20 4l-5 16-3.5-6.500L4 12z",
  up: "M7 21V10l5-7c1.5 0 2.5 1 2.5 2.500V9H19c1.2 0 2 1 1.8 2.200l-1.3 8A2 2 0 0 1 17.5 21H7zM3 10h2v11H3z",
  down: "M17 3v11l-5 7c-1.5 0-2.5-1-2.5-2.500V15H5c-1.2 0-2-1-1.8-2.200l1.3-8A2 2 0 0 1 6.5 3H17zM21 14h-2V3h2z",
  why: "M12 2a7 7 0 0 1 4 12.700V17H8v-2.300A7 7 0 0 1 12 2zM9 19h6v1.500A1.5 1.5 0 0 1 13.5 22h-3A1.5 1.5 0 0 1 9 20.500z",
  close: "m6 4.5 6 6 6-6L19.5 6l-6 6 6 6-1.5 1.5-6-6-6 6L4.5 18l6-6-6-6z",
  bell: "M12 2a6 6 0 0 1 6 6v5l2 3v1H4v-1l2-3V8a6 6 0 0 1 6-6zM9.5 19h5a2.5 2.5 0 0 1-5 0z",
  mute: "m3.4 2 18.6 18.6-1.4 1.4-5-5H4v-1l2-3V8c0-.600.1-1.1.200-1.600L2 3.4 3.4 2zM12 2a6 6 0 0 1 6 6v4.200L8.8 3A6 6 0 0 1 12 2zM9.5 19h5a2.5 2.5 0 0 1-5 0z",
  play: "M7 4v16l13-8z",
  place: "M12 2a7 7 0 0 1 7 7c0 5-7 13-7 13S5 14 5 9a7 7 0 0 1 7-7zm0 4.500a2.5 2.5 0 1 0 0 5 2.5 2.5 0 0 0 0-5z",
  picture: "M4 4h16a2 2 0 0 1 2 2v12a2 2 0 0 1-2 2H4a2 2 0 0 1-2-2V6c0-1.1.900-2 2-2zm0 13h16l-5.5-7-4 5-2.5-3L4 17zm3.5-7a1.5 1.5 0 1 0 0-3 1.5 1.5 0 0 0 0 3z",
};

// Add the drawings of one page to those that all pages have.
export function addDrawings(shapes) {
  Object.assign(SHAPES, shapes);
}

// A drawing that stands beside words or in a button that has a label of its own.
export function Drawing({ name }) {
  return html`<svg class="drawing" viewBox="0 0 24 24" aria-hidden="true" focusable="false">
    <path d=${SHAPES[name]} />
  </svg>`;
}
