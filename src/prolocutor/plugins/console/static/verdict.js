// How a reply came about, in one sentence.

import { duration } from "./figures.js";
import { listOf, namesOf } from "./parts.js";
import { listed, text } from "./safe.js";
import { html } from "./ui.js";

const WAYS = {
  __proto__: null,
  confidence: "It was the most confident answer.",
  last_chance: "No agent had an answer, so the last chance spoke.",
  stopped: "The person stopped it; what was shown by then is the reply.",
  assistant: "The assistant said this by itself.",
};

// Give the names of those whose words are in the reply.
export function speakers(turn) {
  const chosen = new Set(listOf(turn.chosen));
  const names = listOf(turn.hypotheses).filter((one) => chosen.has(one?.hypothesis_id)).map((one) => text(one.skill_name));
  return new Set(names.length ? names : [text(turn.active_skill)].filter(Boolean));
}

// Give the probability that the ranker gave to a hypothesis, or null.
export function scoreOf(turn, hypothesis) {
  const id = hypothesis?.hypothesis_id;
  const found = hypothesis?.score ?? (turn.scores && Object.hasOwn(turn.scores, id) ? turn.scores[id] : null);
  return Number.isFinite(found) ? found : null;
}

export function Verdict({ turn, item }) {
  const names = [...speakers(turn)];
  const seconds = turn.seconds ?? item.seconds;
  const by = turn.by ?? item.by;
  const lost = listOf(turn.lost).filter((one) => one?.seconds >= 0.001);
  return html`<p class="verdict"><b>${by === "fallback" ? "The fallback" : listed(names) || namesOf(item.spoke).join(", ") || "The assistant"}</b> answered${Number.isFinite(seconds) && html` after <b>${duration(seconds)}</b>`}${
    lost.length > 0 && html`; <span class="wrong">${lost.map((one, n) => html`${n > 0 ? ", " : ""}${duration(one.seconds)} of that ${n > 0 || lost.length > 1 ? "on" : "were lost on"} ${text(one.service)}${outcome(turn, one.service)}`)}</span>`}. <${Reason} turn=${turn} by=${by} /></p>`;
}

function outcome(turn, name) {
  const found = listOf(turn.services).find((one) => one?.name === name);
  return found?.outcome === "late" ? ", which was late" : found?.outcome === "failed" ? ", which failed" : "";
}

function Reason({ turn, by }) {
  if (by === "fallback") return `${listOf(turn.hypotheses).length ? "Nobody was sure enough" : "No agent had an answer"}, so the fallback spoke.`;
  if (by !== "selector") return WAYS[by] ?? "";
  const chosen = new Set(listOf(turn.chosen));
  const rated = listOf(turn.hypotheses).map((one) => [one, scoreOf(turn, one)]).filter(([, score]) => score !== null);
  const mine = rated.find(([one]) => chosen.has(one.hypothesis_id));
  if (!mine) return "The response selector chose it.";
  const [next] = rated.filter(([one]) => !chosen.has(one.hypothesis_id)).sort((one, other) => other[1] - one[1]);
  return `The ranker chose it: right with ${mine[1].toFixed(2)}${next ? `, ${next[1] > mine[1] ? "though" : "before"} ${text(next[0].skill_name)} ${next[1] > mine[1] ? "has" : "with"} ${next[1].toFixed(2)}` : ""}.`;
}
