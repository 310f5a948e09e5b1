// A part of a page whose file comes once the page itself is there.

import { html, useEffect, useState } from "./ui.js";

// Show what a file that `load` imports has for it; without the file, nothing.
export function Later({ load, ...props }) {
  const [Part, setPart] = useState(null);
  useEffect(() => {
    const timer = setTimeout(() => load().then((module) => setPart(() => module.default), () => {}));
    return () => clearTimeout(timer);
  }, []);
  return Part && html`<${Part} ...${props} />`;
}
