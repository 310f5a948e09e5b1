// One question: who answered what, and who should have.

import { count, plural } from "./figures.js";
import { useKeys } from "./keys.js";
import { listOf, namesOf, replyLine, saidLine } from "./parts.js";
import { listed, text } from "./safe.js";
import { html, useState } from "./ui.js";

const MOST = 9;
const words = new Map(); // what is typed for a question stays with it: it may come back

// Give the agents with a key, 1 to 9: those that answered, then the likeliest of the others.
export function offersOf(item) {
  const answered = listOf(item.answers).map((one) => one.agent);
  return [...answered, ...listOf(item.likely).filter((name) => !answered.includes(name))].slice(0, MOST);
}

export function LabelForm({ item, offers, operator, writes: may, learns, label, takeBack, skip, undo, how }) {
  const writes = may && !item.label;
  const all = operator.agents;
  const [several, setSeveral] = useState(null);
  const [every, setEvery] = useState(false);
  const answers = listOf(item.answers).slice(0, MOST);
  const speakers = namesOf(item.spoke);
  const others = offers.slice(answers.length);
  const rest = listOf(all).filter((name) => !offers.includes(name));
  const send = (agents) => (writes ? label(agents, (words.get(item.id) ?? "").trim()) : false);
  const pick = (name) => {
    if (!several) return send([name]);
    return setSeveral(several.includes(name) ? several.filter((one) => one !== name) : [...several, name]);
  };
  useKeys({
    ...Object.fromEntries(offers.map((name, n) => [String(n + 1), () => pick(name)])),
    0: () => send([]), Enter: () => (several?.length ? send(several) : false), Escape: () => (several ? setSeveral(null) : false),
  });
  const learnt = learns ? "It is learned at the next training." : "It is kept for a router that learns; the file names none yet (skill_selector: {router: learned, model: FOLDER}).";
  const pressed = (name) => (several ? several.includes(name) : undefined);
  const other = (name, n) => html`<button class="other" key=${name} disabled=${!writes} aria-pressed=${pressed(name)} onClick=${() => pick(name)}>${n < MOST && html`<kbd>${n + 1}</kbd>`}${text(name)}</button>`;
  return html`<section class="label" aria-label="One question">
    <p class="asked-times faint">Asked ${plural(item.times, "time")}, by ${plural(item.people, "person", "people")}${listOf(item.also).length > 0 && html`; also as ${item.also.map((one, n) => html`${n > 0 ? ", " : ""}<q>${saidLine(one)}</q>`)}`}</p>
    <h2>${saidLine(item.text)}</h2>
    <p class="was"><span class="faint">${speakers.length ? html`<b>${listed(speakers)}</b> said` : "It was said"}</span> ${replyLine({ spoke: speakers, reply: item.said }, operator)} <a href=${how}>See how</a></p>
    ${item.label && html`<p class="labelled" role="note">${text(item.label.by)} has said who is right: <b>${listOf(item.label.agents).map(text).join(", ") || "nobody"}</b>${item.label.answer && html`, and what: <q>${text(item.label.answer)}</q>`}. ${may && html`<button class="link" onClick=${() => takeBack(item.label)}>Take it back</button>`}</p>`}
    <h3>Who should have answered?</h3>
    ${answers.length > 0 && html`<ol class="offers">${answers.map((one, n) => html`<li key=${one.agent}><button class="offer" disabled=${!writes} aria-pressed=${pressed(one.agent)} onClick=${() => pick(one.agent)}>
      <kbd>${n + 1}</kbd><span class="offer-name"><b>${text(one.agent)}</b><small title=${Number.isFinite(one.right) ? "the ranker's probability that it is right" : "its own confidence"}>${share(one)}</small></span>
      <span class="offer-text">${replyLine({ spoke: one.agent, reply: one.text }, operator)}</span></button></li>`)}</ol>`}
    <p class="others"><span class="faint">${answers.length ? "not asked then, the likeliest first" : "the likeliest first"}</span>
      ${others.map((name, n) => other(name, n + answers.length))}
      ${every ? rest.map((name) => other(name, MOST)) : rest.length > 0 && html`<button class="other" onClick=${() => setEvery(true)}>all ${count(listOf(all).length)}…</button>`}</p>
    <div class="acts"><button class="press small-press" disabled=${!writes} onClick=${() => send([])}><kbd>0</kbd> Nobody</button>
      <button class="press small-press" onClick=${skip}><kbd>s</kbd> Skip</button>
      ${several ? html`<button class="press small-press strong" disabled=${!several.length} onClick=${() => send(several)}>${several.length === 1 ? "This one is" : `These ${several.length || ""} are`} right</button>
        <button class="press small-press quiet-press" onClick=${() => setSeveral(null)}>Only one</button>`
        : html`<button class="press small-press" disabled=${!writes} onClick=${() => setSeveral([])}>Several…</button>`}
      ${undo && html`<button class="press small-press quiet-press" onClick=${undo}><kbd>z</kbd> Take the last back</button>`}</div>
    <label class="right-words"><span class="faint">What would have been right, in words, if you like: it becomes an example to evaluate with. Then say who.</span>
      <textarea rows="2" maxlength="100000" defaultValue=${words.get(item.id) ?? ""} onInput=${(event) => words.set(item.id, event.target.value)} disabled=${!writes}></textarea></label>
    <p class="faint means">${item.label ? learnt : writes ? html`Your label counts for ${item.times > 1 ? `all ${count(item.times)}` : "this one"}, with weight 1; a thumb counts ¼ or ½. ${learnt}` : "Your key may only read."}</p>
  </section>`;
}

const share = (one) => (Number.isFinite(one.right) ? one.right.toFixed(2) : Number.isFinite(one.confidence) ? `says ${one.confidence.toFixed(2)}` : "");
