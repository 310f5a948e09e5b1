// What calls cost, by agent, person or day, and the limits that are used most.

import { useDoorData } from "./fetching.js";
import { count, money } from "./figures.js";
import { listOf } from "./parts.js";
import { text } from "./safe.js";
import { html, useState } from "./ui.js";

const WAYS = ["agent", "person", "day"];
const KINDS = { total: "all", agent: "agent", person: "person" };

// Nothing where nothing was spent, or the plug-in of the purse is not there.
export function Spending({ operator }) {
  const [by, setBy] = useState("agent");
  const found = useDoorData(operator, "/spending", { by }, { every: 30 });
  const value = found.value;
  const items = listOf(value?.items);
  if (!items.length) return null;
  return html`<section class="rollouts" aria-label="Spending"><h2>Spent in 30 days: ${money(value.total)}</h2>
    <article class="rollout"><footer>${WAYS.map((way) => html`<button class="press small-press" aria-pressed=${way === by} onClick=${() => setBy(way)}>By ${way}</button>`)}
      <a href="/api/console/spending.csv?days=30" download="spending.csv">CSV</a></footer>
    <table><caption class="hidden">What calls cost</caption><tbody>
      ${items.slice(0, 50).map((one) => html`<tr key=${one.name}><th scope="row">${text(one.name) || "–"}</th><td class="r">${money(one.amount)}</td><td class="faint">${count(one.calls)} calls</td></tr>`)}</tbody></table>
    ${listOf(value.limits).filter((one) => one.warns).map((one) => html`<p class="wrong">${KINDS[one.kind]} ${text(one.name)} ${text(one.period)}: ${money(one.spent)} of ${money(one.limit)}</p>`)}</article></section>`;
}
