// Turns as they run, and those that have just ended.

import { useFetched, usePages } from "./fetching.js";
import { briefDay, clock, count, day, duration, exactClock, personName, useNow, wholeTime } from "./figures.js";
import { useKeys, useRowKeys } from "./keys.js";
import { EMPTY, MOST, follow } from "./live_line.js";
import { Choice, More, Nothing, Signs, listOf, replyLine, saidLine } from "./parts.js";
import { go, here, link } from "./router.js";
import { text } from "./safe.js";
import { Drawing, html, useEffect, useRef, useState } from "./ui.js";
import { failureName } from "./wording.js";

const KINDS = [["", "All turns"], ["trouble", "With trouble"], ["failed", "With failures"], ["none", "Without an answer"], ["slow", "Slow"]];
const STATES = { well: "is well again", failing: "answers again, and fails often", trying: "tries again", alone: "is left alone", off: "is switched off" };

export default function Live({ at, operator }) {
  const kind = KINDS.some(([value]) => value === at.query.get("kind")) ? at.query.get("kind") : "";
  const [failed, code] = ["failed", "code"].map((name) => at.query.get(name) ?? "");
  const query = { kind, failed, code };
  const [now, setNow] = useState(EMPTY);
  const [held, setHeld] = useState(null);
  const plan = useFetched("/plan");
  const before = usePages("/turns", query, { id: (one) => one.turn_id });
  const box = useRef(null);
  useEffect(() => {
    setHeld(null);
    setNow(EMPTY);
    return follow(query, setNow);
  }, [kind, failed, code]);
  useEffect(() => {
    if (before.fresh) before.show();
  }, [before.fresh]);
  const hold = () => setHeld(held ? null : now);
  useRowKeys(box, before.more);
  useKeys({ h: hold });
  const shown = held ?? now;
  const missed = held ? now.number - held.number : 0;
  const deadline = plan.value?.deadline ?? 5;
  const rows = [...shown.ended, ...earlier(shown, listOf(before.value))];
  const bare = !shown.running.length && !rows.length;
  const row = (one) => (one.type === "breaker" ? html`<${Change} key=${one.id} one=${one} />`
    : html`<${Ended} key=${one.turn_id} one=${one} failed=${failed} operator=${operator} waits=${shown.waits.has(one.dialog_id)} deadline=${deadline} />`);
  return html`<div class="page live"><header class="head"><h1>Live</h1><${Summary} of=${now} rows=${rows} />
      <div class="selects">${failed && html`<a class="chip" aria-current="true" href=${here({ failed: "", code: "" })} title="Show the other turns too">${text(failed)} failed${code && html` <small>${failureName(code)}</small>`} ×</a>`}
        <${Choice} label="Which turns" value=${kind} options=${KINDS} choose=${(value) => go(here({ kind: value }))} />
        <button class="press small-press" aria-pressed=${Boolean(held)} onClick=${hold}><${Drawing} name=${held ? "play" : "pause"} />${held ? "Go on" : "Hold"}${missed > 0 ? ` (${count(missed)} new)` : ""}</button></div></header>
    <p class=${`broken ${now.line === "broken" ? "" : "gone"}`} role="status">${now.line === "broken" && html`<b>Not connected</b> since ${exactClock(now.since)}; it is tried again by itself.`}</p>
    ${bare ? now.line !== "waiting" && (before.value || before.error) && html`<${Nothing} title=${kind || failed ? "No such turn" : "No turn runs"}><p>${kind || failed ? html`<a href=${link(["live"])}>Show all turns</a>` : html`Turns appear here as they come. Talk at <a href="/">the chat page</a>.`}</p></${Nothing}>`
      : html`<div class="flow-box" ref=${box}><ol class=${`flow ${now.line === "broken" ? "old" : ""}`} aria-live="off" aria-label="Turns, those that run first">
        ${shown.running.map((one) => html`<${Running} key=${one.turn_id} one=${one} clock=${shown.clock} deadline=${deadline} />`)}
        ${shown.left > 0 && html`<li class="event" key="left">${count(shown.left)} more turns were too many to show</li>`}
        ${rows.map(row)}</ol>
        ${shown.ended.length < MOST && html`<${More} list=${before}>the latest first</${More}>`}</div>`}
  </div>`;
}

// Give the turns of before that were not seen to end here. Where more ended than are shown, these
// would not follow on them.
function earlier(shown, rows) {
  if (shown.ended.length >= MOST) return [];
  const seen = new Set([...shown.ended, ...shown.running].map((one) => one.turn_id));
  return rows.filter((one) => !seen.has(one.turn_id));
}

function Summary({ of, rows }) {
  const since = useNow() - 60;
  const seen = new Set(of.ended.map((one) => one.turn_id));
  const times = [...of.times, ...rows.filter((one) => !seen.has(one.turn_id)).map((one) => [one.at, one.seconds])].filter(([at]) => at > since).map(([, seconds]) => seconds).sort((a, b) => a - b);
  const running = of.running.length;
  return html`<p class="faint summary">${count(running)} ${running === 1 ? "turn runs" : "turns run"} now · ${count(times.length)} in the last minute${times.length > 0 && ` · half within ${duration(times[Math.floor((times.length - 1) / 2)])}`}</p>`;
}

function Running({ one, clock, deadline }) {
  const seconds = Math.max(0, clock - one.at);
  return html`<li class="flowing"><span class="when">now</span><span class="who-said faint" title=${text(one.user)}>${personName(one.user)}</span>
    <a class="said" data-row=${one.turn_id} href=${link(["conversations", one.dialog_id])}>${saidLine(one.said) || html`<i class="faint">no words</i>`}</a>
    <span class="asking">${one.asked.length ? html`asks ${one.asked.map(([name, since], n) => html`${n > 0 ? ", " : ""}<b>${text(name)}</b> <small>${Math.max(0, clock - since).toFixed(1)} s</small>`)}` : ""}</span>
    <span class="mini" title="On a logarithmic scale up to the deadline"><i class="open" style=${{ width: part(seconds, deadline) }}></i></span><span class="r">${seconds.toFixed(1)} s</span><span class="signs"></span></li>`;
}

// A turn that has ended; `failed`: the service whose failure is shown in place of the reply.
function Ended({ one, failed, operator, waits, deadline }) {
  const flags = waits ? [...one.flags, "waits"] : one.flags;
  const slow = one.flags.includes("slow");
  const none = one.flags.includes("none");
  const failure = failed && listOf(one.failures).find(({ service }) => service === failed);
  return html`<li><time class="when faint" title=${wholeTime(one.at)}>${day(one.at) === day(Date.now() / 1000) ? exactClock(one.at) : `${briefDay(one.at)} ${clock(one.at)}`}</time><span class="who-said faint" title=${text(one.user)}>${personName(one.user)}</span>
    <a class="said" data-row=${one.turn_id} href=${link(["conversations", one.dialog_id, ...(one.utt_id ? [one.utt_id] : [])])}>${saidLine(one.said) || html`<i class="faint">no words</i>`} <small class=${failure ? "wrong" : ""}>${failure ? text(failure.error) || failureName(failure.code || failure.outcome) : replyLine(one, operator)}</small></a>
    <span class=${`asking ${none ? "warn" : ""}`}>${none ? "nobody" : one.spoke.map(text).join(", ")}</span>
    <span class="mini" title="On a logarithmic scale up to the deadline"><i class=${slow ? "late" : ""} style=${{ width: part(one.seconds, deadline) }}></i></span>
    <span class=${`r ${slow ? "warn" : ""}`}>${duration(one.seconds)}</span><span class="signs"><${Signs} flags=${flags} failed=${one.failed} stopped=${one.stopped} /></span></li>`;
}

function Change({ one }) {
  return html`<li class=${`event is-${one.state}`}><a data-row=${one.id} href=${link(["agents", one.agent], { of: one.stage === "skills" ? "" : one.stage })}>${text(one.agent)}</a> ${STATES[one.state] ?? text(one.state)} <span class="faint">${exactClock(one.at)}</span></li>`;
}

// Give the length of a bar, on a logarithmic scale from 10 ms to the deadline.
const part = (seconds, deadline) => `${Math.max(3, Math.min(100, (100 * Math.log(Math.max(seconds, 0.01) / 0.01)) / Math.log(Math.max(deadline, 0.1) / 0.01)))}%`;
