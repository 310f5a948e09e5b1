// Filters under a name, kept in this browser: choosing one goes there, "Keep this view" adds one.

import { keep, kept } from "./kept.js";
import { listOf } from "./parts.js";
import { go, link } from "./router.js";
import { text } from "./safe.js";
import { html, useState } from "./ui.js";

const VIEWS = "prolocutor.console.views";

export default function Views({ at }) {
  const [views, setViews] = useState(savedViews);
  const query = at.query.toString();
  const known = views.find((one) => one.query === query);
  const put = (next) => {
    keep(VIEWS, JSON.stringify(next));
    setViews(next);
  };
  const choose = (event) => {
    const { value } = event.target;
    event.target.value = known ? query : "";
    if (value === "keep") {
      const name = prompt("A name for this view")?.trim().slice(0, 40);
      if (name) put([...views.filter((one) => one.name !== name), { name, query }].slice(-20));
    } else if (value === "drop") put(views.filter((one) => one !== known));
    else go(`${link(["conversations"])}${value ? `?${value}` : ""}`);
  };
  if (!views.length && !query) return null;
  return html`<select class="not-phone" aria-label="Views" onChange=${choose}>
    <option value="" selected=${!known}>${known || !query ? "No view" : "This view"}</option>
    ${views.map((one) => html`<option value=${one.query} selected=${one === known}>${text(one.name)}</option>`)}
    ${query && !known && html`<option value="keep">Keep this view…</option>`}${known && html`<option value="drop">Forget “${text(known.name)}”</option>`}</select>`;
}

function savedViews() {
  try {
    return listOf(JSON.parse(kept(VIEWS))).filter((one) => typeof one?.name === "string" && typeof one?.query === "string");
  } catch {
    return [];
  }
}
