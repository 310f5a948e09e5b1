// How far a job is, until it has ended.

import { send } from "./api.js";
import { useFetched } from "./fetching.js";
import { attempt } from "./parts.js";
import { text } from "./safe.js";
import { html, useEffect, useState } from "./ui.js";

const ENDED = new Set(["done", "failed", "stopped"]);

// `ended` gets the result of the job, or null; `failed` its id where it was stopped or failed. `what` is the work, `rest` what a failure leaves as it was.
export function Progress({ job, ended, failed, what, rest }) {
  const [state, setState] = useState(null);
  const fetched = useFetched(`/jobs/${encodeURIComponent(job)}`, {}, { every: state && ENDED.has(state) ? 0 : 1 });
  const now = fetched.value;
  const name = what.replace(/^./, (letter) => letter.toUpperCase());
  useEffect(() => {
    if (!now || now.id !== job || ENDED.has(state)) return;
    setState(now.state);
    if (now.state === "done") ended(now.result);
    else if (ENDED.has(now.state)) failed?.(job);
  }, [now?.state]);
  useEffect(() => {
    if (fetched.error?.status === 404) ended(null);
  }, [fetched.error]);
  const stop = () => attempt(null, () => send("DELETE", `/jobs/${encodeURIComponent(job)}`));
  const over = now && ENDED.has(now.state) && now.state !== "done";
  return html`<section class="training" aria-label=${name} role="status">
    <p>${!now ? `${name}…` : over ? html`<span class="wrong">${now.state === "stopped" ? `The ${what} was stopped.` : text(now.error)}</span> ${rest}`
      : now.state === "waits" ? `Waiting for another ${what} to end…` : html`${name}, ${Math.round(100 * (now.share ?? 0))} %…`}</p>
    <progress max="1" value=${now?.share ?? 0} aria-label="How much is done"></progress>
    ${over ? html`<button class="press small-press" onClick=${() => ended(null)}>Close</button>` : html`<button class="press small-press" onClick=${stop}>Stop</button>`}</section>`;
}
