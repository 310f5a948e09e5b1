// The shares of turns without an answer and with a thumb down, day by day, and what was put live.

import { Chart, axis } from "./chart.js";
import { useFetched } from "./fetching.js";
import { day } from "./figures.js";
import { listOf } from "./parts.js";
import { text } from "./safe.js";
import { html, useMemo } from "./ui.js";

const DAYS = 30;

export function Trend() {
  const { value } = useFetched("/shares", { days: DAYS }, { every: 120 });
  const data = useMemo(() => (value ? [listOf(value.at), listOf(value.none), listOf(value.down)] : null), [value]);
  const days = data ? data[1].filter(Number.isFinite).length : 0;
  if (!days) return null;
  const live = listOf(value.live).filter((one) => one.at >= data[0][0]);
  const label = `Share of turns without an answer, and disliked, over ${DAYS} days`;
  return html`<figure class="trend">${days > 1 && html`<${Chart} label=${label} data=${data} height=${92} build=${(colour) => options(colour, data, live)} />`}
    <figcaption><span class="warn">no answer ${shown(mean(data[1]))}</span> · <span class="wrong">thumbs down ${shown(mean(data[2]))}</span> of all turns, a day at a time, ${DAYS} days${live.length > 0 && html` · ${live.slice(-3).map((one, n) => html`${n > 0 ? ", " : ""}<span class="good" title=${`by ${text(one.by)}`}>${day(one.at)}: new ${text(one.role)}</span>`)}`}</figcaption></figure>`;
}

function options(colour, data, live) {
  const top = Math.max(0.02, ...data[1].filter(Number.isFinite), ...data[2].filter(Number.isFinite)) * 1.15;
  const few = data[1].filter(Number.isFinite).length < 4;
  const line = (name) => ({ stroke: colour(name), width: 1.5, points: { show: few, size: 5, fill: colour(name) }, spanGaps: true });
  return {
    padding: [6, 2, 0, 0],
    scales: { y: { range: [0, top] } },
    axes: [
      axis(colour, { size: 20, gap: 2, grid: { show: false }, space: 90, values: (_, ticks) => ticks.map(date) }),
      axis(colour, { size: 40, space: 26, values: (_, ticks) => ticks.map(shown) }),
    ],
    series: [{}, line("warn"), line("wrong")],
    hooks: { draw: [(plot) => marks(plot, live, colour)] },
  };
}

// A line where a model went live, with its role beside it where there is room.
function marks(plot, live, colour) {
  const { ctx, bbox } = plot;
  const unit = devicePixelRatio;
  ctx.save();
  Object.assign(ctx, { strokeStyle: colour("accent"), fillStyle: colour("accent"), textAlign: "left", lineWidth: unit, font: `${11 * unit}px system-ui, sans-serif` });
  let free = -Infinity;
  for (const one of live) {
    const x = Math.round(plot.valToPos(one.at, "x", true)) + 0.5;
    const words = `new ${text(one.role)}`;
    ctx.beginPath();
    ctx.moveTo(x, bbox.top);
    ctx.lineTo(x, bbox.top + bbox.height);
    ctx.stroke();
    const room = ctx.measureText(words).width + 5 * unit;
    if (x > free && x + room < bbox.left + bbox.width) {
      ctx.fillText(words, x + 5 * unit, bbox.top + 10 * unit);
      free = x + room;
    }
  }
  ctx.restore();
}

const date = (tick) => new Date(1000 * tick).toLocaleDateString("en-GB", { day: "numeric", month: "short", timeZone: "UTC" });
const shown = (share) => (Number.isFinite(share) ? `${(100 * share).toFixed(share > 0 && share < 0.1 ? 1 : 0)} %` : "–");
function mean(values) {
  const known = values.filter(Number.isFinite);
  return known.length ? known.reduce((sum, one) => sum + one, 0) / known.length : NaN;
}
