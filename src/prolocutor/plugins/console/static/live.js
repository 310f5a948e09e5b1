// Turns as they run, and those that have just ended.

import { get } from "./api.js";
import { useFetched } from "./fetching.js";
import { count, duration, exactClock, wholeTime } from "./figures.js";
import { useKeys, useRowKeys } from "./keys.js";
import { EMPTY, follow } from "./live_line.js";
import { Choice, Nothing, Signs, replyLine } from "./parts.js";
import { go, here, link } from "./router.js";
import { text } from "./safe.js";
import { Drawing, html, useEffect, useRef, useState } from "./ui.js";

const KINDS = [["", "All turns"], ["trouble", "With trouble"], ["failed", "With failures"], ["none", "Without an answer"], ["slow", "Slow"]];
const STATES = { well: "is well again", failing: "answers again, and fails often", trying: "tries again", alone: "is left alone", off: "is switched off" };

export default function Live({ at, operator }) {
  const kind = KINDS.some(([value]) => value === at.query.get("kind")) ? at.query.get("kind") : "";
  const [now, setNow] = useState(EMPTY);
  const [held, setHeld] = useState(null);
  const plan = useFetched("/plan");
  const box = useRef(null);
  useEffect(() => {
    setHeld(null);
    setNow(EMPTY);
    return follow(kind, setNow, (query) => get("/conversations", { limit: 20, ...query }));
  }, [kind]);
  const hold = () => setHeld(held ? null : now);
  useRowKeys(box);
  useKeys({ h: hold });
  const shown = held ?? now;
  const missed = held ? now.number - held.number : 0;
  const deadline = plan.value?.deadline ?? 5;
  const bare = !shown.running.length && !shown.ended.length;
  return html`<div class="page live"><header class="head"><h1>Live</h1><${Summary} of=${now} />
      <div class="selects"><${Choice} label="Which turns" value=${kind} options=${KINDS} choose=${(value) => go(here({ kind: value }))} />
        <button class="press small-press" aria-pressed=${Boolean(held)} onClick=${hold}><${Drawing} name=${held ? "play" : "pause"} />${held ? "Go on" : "Hold"}${missed > 0 ? ` (${count(missed)} new)` : ""}</button></div></header>
    <p class=${`broken ${now.line === "broken" ? "" : "gone"}`} role="status">${now.line === "broken" && html`<b>Not connected</b> since ${exactClock(now.since)}; it is tried again by itself.`}</p>
    ${bare ? now.line !== "waiting" && html`<${Nothing} title=${kind ? "No such turn since you look" : "No turn runs"}><p>${kind ? html`<a href=${link(["live"])}>Show all turns</a>` : html`Turns appear here as they come. Talk at <a href="/">the chat page</a>, or look at <a href=${link(["conversations"])}>what was said before</a>.`}</p></${Nothing}>`
      : html`<ol class=${`flow ${now.line === "broken" ? "old" : ""}`} ref=${box} aria-live="off" aria-label="Turns, those that run first">
        ${shown.running.map((one) => html`<${Running} key=${one.turn_id} one=${one} clock=${shown.clock} deadline=${deadline} />`)}
        ${shown.left > 0 && html`<li class="event" key="left">${count(shown.left)} more turns were too many to show</li>`}
        ${shown.ended.map((one) => (one.type === "breaker" ? html`<${Change} key=${one.id} one=${one} />` : html`<${Ended} key=${one.id} one=${one} operator=${operator} waits=${shown.waits.has(one.dialog_id)} deadline=${deadline} />`))}</ol>`}
  </div>`;
}

function Summary({ of }) {
  const running = of.running.length;
  return html`<p class="faint summary">${count(running)} ${running === 1 ? "turn runs" : "turns run"} now · ${count(of.minute.number)} in the last minute${of.minute.half !== null && ` · half within ${duration(of.minute.half)}`}</p>`;
}

function Running({ one, clock, deadline }) {
  const seconds = Math.max(0, clock - one.at);
  return html`<li class="flowing"><span class="when">now</span><span class="who-said faint">${text(one.user)}</span>
    <a class="said" data-row=${one.turn_id} href=${link(["conversations", one.dialog_id])}>${text(one.said) || html`<i class="faint">no words</i>`}</a>
    <span class="asking">${one.asked.length ? html`asks ${one.asked.map(([name, since], n) => html`${n > 0 ? ", " : ""}<b>${text(name)}</b> <small>${Math.max(0, clock - since).toFixed(1)} s</small>`)}` : ""}</span>
    <span class="mini"><i class="open" style=${{ width: part(seconds, deadline) }}></i></span><span class="r">${seconds.toFixed(1)} s</span><span class="signs"></span></li>`;
}

function Ended({ one, operator, waits, deadline }) {
  const flags = waits ? [...one.flags, "waits"] : one.flags;
  const slow = one.flags.includes("slow");
  const none = one.flags.includes("none");
  return html`<li><time class="when faint" title=${wholeTime(one.at)}>${exactClock(one.at)}</time><span class="who-said faint">${text(one.user)}</span>
    <a class="said" data-row=${one.id} href=${link(["conversations", one.dialog_id, ...(one.utt_id ? [one.utt_id] : [])])}>${text(one.said) || html`<i class="faint">no words</i>`} <small>${replyLine(one, operator)}</small></a>
    <span class=${`asking ${none ? "warn" : ""}`}>${none ? "nobody" : one.spoke.map(text).join(", ")}</span>
    <span class="mini">${one.seconds !== null && html`<i class=${slow ? "late" : ""} style=${{ width: part(one.seconds, deadline) }}></i>`}</span>
    <span class=${`r ${slow ? "warn" : ""}`}>${duration(one.seconds)}</span><span class="signs"><${Signs} flags=${flags} failed=${one.failed} /></span></li>`;
}

function Change({ one }) {
  return html`<li class=${`event is-${one.state}`}><a data-row=${one.id} href=${link(["agents", one.agent], { of: one.stage === "skills" ? "" : one.stage })}>${text(one.agent)}</a> ${STATES[one.state] ?? text(one.state)} <span class="faint">${exactClock(one.at)}</span></li>`;
}

const part = (seconds, deadline) => `${Math.max(3, Math.min(100, (100 * seconds) / deadline))}%`;
