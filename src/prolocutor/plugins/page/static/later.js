// Parts of the page whose files come when they are first wanted.

import { html, useEffect, useState } from "./ui.js";

const come = new Map();

// Show the component of a file that `load` imports. When it goes, what had the focus before has it,
// but where it does not give it `back`.
export function Later({ load, back = true, ...props }) {
  useEffect(() => {
    const before = document.activeElement;
    return () => back && queueMicrotask(() => before.isConnected && before.focus());
  }, []);
  const [Part, setPart] = useState(() => come.get(load) ?? null);
  const [failed, setFailed] = useState(false);
  useEffect(() => {
    if (Part) return;
    load().then(
      (module) => {
        come.set(load, module.default);
        setPart(() => module.default);
      },
      () => setFailed(true),
    );
  }, []);
  if (Part) return html`<${Part} ...${props} />`;
  return failed && html`<p class="wrong" role="alert">This part of the page did not come. <button class="quiet" onClick=${props.close}>Close</button></p>`;
}
