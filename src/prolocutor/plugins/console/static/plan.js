// The plan: what runs after what, how each service is, and what to know of the file.

import { STATES } from "./agents.js";
import { useFetched } from "./fetching.js";
import { duration, plural, wholeTime } from "./figures.js";
import { useRowKeys } from "./keys.js";
import { Choice, States } from "./parts.js";
import { go, here, link } from "./router.js";
import { text } from "./safe.js";
import { html, useLayoutEffect, useMemo, useRef, useState } from "./ui.js";

const NAMES = {
  annotators: "annotators", skill_selector: "skill selector", skills: "skills", candidate_annotators: "on answers",
  response_selector: "response selector", postprocessors: "after", response_annotators: "on the reply", last_chance: "last chance",
};
const PATHS = [["", "Measured path"], ["limits", "Path of the time-outs"]];
const GAP = 28, ROW = 34, TOP = 34;
const [NARROW, WIDE, STACKED] = [132, 230, 640]; // the width of a service, and below which stages stand under each other

export default function Plan({ at }) {
  const found = useFetched("/plan", {}, { every: 10 });
  const limits = at.query.get("path") === "limits";
  const box = useRef(null);
  useRowKeys(box);
  return html`<div class="page plan"><header class="head"><h1>Plan</h1>${found.value && html`<${Summary} plan=${found.value} />`}
      <div class="selects"><${Choice} label="Which path is lit" value=${limits ? "limits" : ""} options=${PATHS} choose=${(path) => go(here({ path }), { replace: true })} /></div></header>
    <${States} of=${found} what="The plan"><div class="plan-box" ref=${box} tabindex="-1">${found.value && html`<${Graph} plan=${found.value} limits=${limits} /><${Path} plan=${found.value} limits=${limits} /><${Hints} plan=${found.value} />`}</div></${States}></div>`;
}

function Summary({ plan }) {
  return html`<p class="faint summary">${plan.file && `${text(plan.file)} · `}read <time title=${wholeTime(plan.read)}>${wholeTime(plan.read)}</time> · deadline ${plan.deadline} s, ${plan.reserve} s of it kept for all after the skills</p>`;
}

function Graph({ plan, limits }) {
  const critical = new Set(limits ? plan.critical : plan.longest);
  const [box, room] = useRoom();
  const { columns, places, W, stacked, width, height } = useMemo(() => laidOut(plan.nodes, room), [room, JSON.stringify(plan.nodes.map((one) => [one.id, one.stage]))]);
  const state = new Map(plan.nodes.map((one) => [one.id, one]));
  return html`<div class="graph" ref=${box}><svg width=${width} height=${height} viewBox=${`0 0 ${width} ${height}`} role="group" aria-label=${`The plan: ${plural(plan.nodes.length, "service")}`}>
    ${!stacked && plan.edges.map(([from, to, kind]) => {
      const a = places.get(from), b = places.get(to);
      if (!a || !b) return null;
      const lit = critical.has(from) && critical.has(to);
      const back = b.x <= a.x;
      const path = back ? `M${a.x + W / 2} ${a.y + 26}C${a.x + W / 2} ${a.y + 40} ${b.x + W / 2} ${b.y - 14} ${b.x + W / 2} ${b.y}`
        : `M${a.x + W} ${a.y + 13}C${a.x + W + GAP / 2} ${a.y + 13} ${b.x - GAP / 2} ${b.y + 13} ${b.x} ${b.y + 13}`;
      return html`<path key=${`${from}>${to}`} class=${`edge ${kind} ${lit ? "critical" : ""}`} d=${path} />`;
    })}
    ${columns.map(([stage, x, y]) => html`<text class="stage" x=${x} y=${y}>${NAMES[stage] ?? text(stage)}</text>`)}
    ${[...places].map(([id, { x, y }]) => html`<${Node} key=${id} one=${state.get(id)} x=${x} y=${y} W=${W} lit=${critical.has(id)} />`)}
  </svg></div>`;
}

function Node({ one, x, y, W, lit }) {
  if (!one) return null;
  const to = link(["agents", one.name], { of: one.stage === "skills" ? "" : one.stage, stage: one.stage === "skills" ? "" : "all" });
  const open = (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    go(to);
  };
  const label = `${text(one.name)}, ${NAMES[one.stage] ?? one.stage}, ${STATES[one.state]}, ${one.p50 === null ? "not asked today" : `half within ${duration(one.p50)}`}, time-out ${one.timeout} s`;
  const time = one.state === "well" || one.state === "off" ? duration(one.p50) : STATES[one.state];
  const room = Math.floor((W - 42 - 6.5 * time.length) / 7.4);
  return html`<a class=${`node is-${one.state} ${lit ? "critical" : ""}`} href=${to} data-row=${one.id} onClick=${open}><title>${label}</title>
    <rect x=${x} y=${y} width=${W} height="26" rx="8" /><circle cx=${x + 13} cy=${y + 13} r="4" />
    <text x=${x + 25} y=${y + 17.5}>${cut(text(one.name), room)}</text><text class="time" x=${x + W - 9} y=${y + 17.5}>${time}</text></a>`;
}

function Path({ plan, limits }) {
  const path = limits ? plan.critical : plan.longest;
  if (!path.length) return html`<p class="path faint">Nothing was asked today, so no path was measured.</p>`;
  const of = new Map(plan.nodes.map((one) => [one.id, one]));
  const seconds = path.reduce((sum, id) => sum + ((limits ? of.get(id)?.timeout : of.get(id)?.p50) ?? 0), 0);
  return html`<p class="path">${limits ? "The longest chain of time-outs" : "The chain that usually takes the longest"}: <b>${path.map(text).join(" → ")}</b>, ${duration(seconds)}${limits && seconds > plan.deadline && html`, <span class="warn">longer than the deadline of ${plan.deadline} s</span>`}.</p>`;
}

function Hints({ plan }) {
  if (!plan.hints.length) return html`<p class="path faint">Nothing to remark on the file.</p>`;
  return html`<h2 class="hidden">Hints</h2><ul class="hints">${plan.hints.map((one) => html`<li key=${one.where + one.what}>${text(one.what)} <span class="faint">${text(one.where)}</span></li>`)}</ul>`;
}

// Give a box, and the pixels that it has for the drawing.
function useRoom() {
  const box = useRef(null);
  const [room, setRoom] = useState(1000);
  useLayoutEffect(() => {
    const measure = () => {
      const style = getComputedStyle(box.current);
      setRoom(box.current.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight));
    };
    measure();
    const watching = new ResizeObserver(measure);
    watching.observe(box.current);
    return () => watching.disconnect();
  }, []);
  return [box, room];
}

// A column for each stage, its services below one another and centred; where there is little room, the
// stages under each other.
function laidOut(nodes, room) {
  const stages = Object.keys(NAMES).map((stage) => [stage, nodes.filter((one) => one.stage === stage)]).filter(([, list]) => list.length);
  if (room < STACKED) return stackedUp(stages, room);
  const W = Math.max(NARROW, Math.min(WIDE, Math.floor((room + GAP) / Math.max(1, stages.length)) - GAP));
  const tallest = Math.max(1, ...stages.map(([, list]) => list.length));
  const middle = TOP + (tallest * ROW) / 2;
  const places = new Map();
  const columns = stages.map(([stage, list], column) => {
    const x = column * (W + GAP);
    list.forEach((one, row) => places.set(one.id, { x, y: middle - (list.length * ROW) / 2 + row * ROW }));
    return [stage, x, 14];
  });
  return { columns, places, W, stacked: false, width: stages.length * (W + GAP) - GAP, height: TOP + tallest * ROW + 10 };
}

function stackedUp(stages, room) {
  const across = Math.max(1, Math.floor((room + 10) / (NARROW + 10)));
  const W = Math.floor((room + 10) / across) - 10;
  const places = new Map();
  let y = 0;
  const columns = stages.map(([stage, list]) => {
    const top = y;
    list.forEach((one, n) => places.set(one.id, { x: (n % across) * (W + 10), y: top + 22 + Math.floor(n / across) * ROW }));
    y += 22 + Math.ceil(list.length / across) * ROW + 8;
    return [stage, 0, top + 14];
  });
  return { columns, places, W, stacked: true, width: room, height: y };
}

const cut = (name, most) => ([...name].length > most ? `${[...name].slice(0, most - 1).join("")}…` : name);
