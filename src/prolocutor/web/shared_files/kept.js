// What the browser keeps between visits. Where it may keep nothing, nothing is kept: nothing fails.

// Give what is kept under a name, null where nothing is; `store` is "sessionStorage" for what ends
// with the window.
export function kept(name, store = "localStorage") {
  try {
    return window[store].getItem(name);
  } catch {
    return null;
  }
}

// Keep a text under a name; null forgets it.
export function keep(name, value, store = "localStorage") {
  try {
    if (value === null) window[store].removeItem(name);
    else window[store].setItem(name, value);
  } catch {
    // It holds until the page is left.
  }
}
