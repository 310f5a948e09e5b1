// The histogram of turns an hour, in which a time is chosen by dragging.

import { Chart, axis } from "./chart.js";
import { useFetched } from "./fetching.js";
import { clock, count, day, plural } from "./figures.js";
import { span } from "./filters.js";
import { listOf } from "./parts.js";
import { html, useMemo, useRef } from "./ui.js";

const FEWEST = 3; // hours that are worth a drawing
const TIMES = ["order", "time", "since", "until"]; // filters that leave no turn of the hours out
const sum = (numbers) => numbers.reduce((all, one) => all + (Number.isFinite(one) ? one : 0), 0);

export function History({ filters, choose }) {
  const shown = span(filters);
  const hours = useFetched("/hours", shown, { every: 60 });
  const chosen = filters.since || filters.until;
  const data = useMemo(() => whole(hours.value, chosen ? shown : sinceData(hours.value, shown)), [hours.value]);
  const dragged = useRef(choose);
  dragged.current = choose;
  const narrowed = Object.keys(filters).some((name) => !TIMES.includes(name));
  const turns = sum(data[1]);
  const bad = sum(data[2]);
  if (!turns && !chosen) return null;
  const words = `${plural(turns, "turn")}, ${count(bad)} without an answer or with a failure`;
  const days = Math.round((shown.until - data[0][0]) / 86_400);
  const step = data[0].length <= 24 ? 3600 : days <= 2 ? 6 * 3600 : 86_400 * Math.ceil(days / 10);
  const drawn = chosen || data[0].length >= FEWEST;
  return html`<figure class="history">
    ${drawn && html`<div class="not-phone"><${Chart} label=${`Turns an hour: ${words}`} data=${data} height=${70}
      build=${(colour, uPlot) => options(colour, uPlot, step, (since, until) => dragged.current({ since, until, time: "" }))} /></div>`}
    <figcaption>${plural(turns, "turn")}${narrowed ? " of all conversations" : ""} in ${days <= 1 ? plural(data[0].length, "hour") : `${days} days`} · <span class=${bad ? "wrong" : ""}>${count(bad)} without an answer or with a failure</span>
      ${chosen ? html` · <button class="link" onClick=${() => choose({ since: "", until: "" })}>Any time again</button>` : drawn && html`<span class="not-phone"> · drag to choose a time</span>`}</figcaption>
  </figure>`;
}

// Give the hours from the first with a turn on: nothing was there before.
function sinceData(found, { since, until }) {
  const first = listOf(found?.at).find((_, n) => listOf(found.turns)[n] > 0) ?? since;
  return { since: Math.max(since, Math.min(first, until - 3600)), until };
}

// Give the columns with an entry for each hour, as the server leaves out those without a turn.
function whole(found, { since, until }) {
  const step = found?.step || 3600;
  const at = [];
  for (let time = since; time < until; time += step) at.push(time);
  const place = new Map(listOf(found?.at).map((time, n) => [time, n]));
  const column = (values) => at.map((time) => listOf(values)[place.get(time)] ?? 0);
  return [at, column(found?.turns), column(found?.bad)];
}

// Half a bar: the first and the last stand whole in the drawing.
const half = ({ data: [at] }) => (at.length > 1 ? (at[1] - at[0]) / 2 : 1800);

function options(colour, uPlot, step, choose) {
  const bars = uPlot.paths.bars({ size: [0.72, 20] });
  const bar = (name) => ({ fill: colour(name), stroke: colour(name), width: 0, points: { show: false }, paths: bars });
  return {
    padding: [4, 0, 0, 0],
    cursor: { y: false, points: { show: false }, drag: { x: true, y: false, setScale: false } },
    scales: { x: { range: (plot, low, high) => [low - half(plot), high + half(plot)] }, y: { range: (_, low, high) => [0, Math.max(1, high * 1.05)] } },
    axes: [axis(colour, { size: 20, grid: { show: false }, gap: 2, space: 60, incrs: [step], values: (_, ticks) => ticks.map((at) => (step < 86_400 ? clock(at) : day(at))) }), { show: false }],
    series: [{}, bar("bar"), bar("wrong")],
    hooks: {
      setSelect: [(plot) => {
        const { left, width } = plot.select;
        if (width < 4) return;
        const hour = (x) => Math.round(plot.posToVal(x, "x") / 3600) * 3600;
        choose(hour(left), Math.max(hour(left + width), hour(left) + 3600));
        plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
      }],
    },
  };
}
