// What people are unhappy with, as a list to work off by keys; then train, compare, put live.

import { send } from "./api.js";
import { refresh, useFetched, usePages } from "./fetching.js";
import { When, count, plural } from "./figures.js";
import { asked } from "./filters.js";
import { useKeys } from "./keys.js";
import { More, Nothing, States, attempt, listOf, saidLine } from "./parts.js";
import { LabelForm, offersOf } from "./quality_label.js";
import { Progress } from "./progress.js";
import { Comparison, Models, Train } from "./quality_training.js";
import { Trend } from "./quality_trend.js";
import { go, here, link } from "./router.js";
import { text } from "./safe.js";
import { html, useEffect, useMemo, useRef, useState } from "./ui.js";

export const SIGNS = { none: "no answer", down: "thumbs down", unsure: "unsure whom to ask" };

export default function Quality({ at, operator }) {
  const sign = at.query.get("sign") ?? "";
  const found = usePages("/work", { sign }, { id: (one) => one.id, every: 20 });
  const totals = useFetched("/work", { sign, limit: 1 }, { every: 20 });
  const models = useFetched("/models", {}, { every: 30 });
  const turn = at.query.get("turn");
  const named = useFetched(turn ? `/questions/${encodeURIComponent(turn)}` : null);
  const work = useLabels(found, turn ? named.value : null);
  const job = at.query.get("job");
  const [broken, setBroken] = useState("");
  const model = listOf(models.value?.items).find((one) => one.id === at.query.get("model"));
  const ended = (report) => {
    models.again();
    go(here({ job: "", model: report?.model ?? "" }), { replace: true });
  };
  const takeBack = async (label) => {
    if (await attempt(null, async () => (await send("DELETE", `/labels/${encodeURIComponent(label.id)}`), true))) [named, found].forEach((one) => one.again()), refresh("/work");
  };
  const chosen = work.open.find((one) => one.id === at.query.get("item")) ?? work.open[0];
  const choose = (one) => go(here({ item: one?.id ?? "", turn: one?.id === named.value?.id ? turn : "" }), { replace: true });
  return html`<div class="page quality">
    <header class="head"><h1>Quality</h1>
      <p class="faint summary">${totals.value ? `${plural(totals.value.questions, "question")} in 7 days` : ""}</p>
      <div class="steps"><${Sign} sign=${sign} /><span class="step-word not-phone">${totals.value && plural(totals.value.labels, "label")}${models.value?.thumbs > 0 && `, ${plural(models.value.thumbs, "thumb")}`}</span>
        <${Models} models=${models} writes=${operator.writes} />
        <${Train} roles=${listOf(models.value?.roles)} idle=${work.given.length ? [] : listOf(models.value?.idle)} busy=${Boolean(job) && job !== broken} writes=${operator.writes} inTurn=${work.inTurn} /></div></header>
    ${listOf(models.value?.problems).map((one) => html`<p class="warn" role="status">Learning fails: ${text(one)}.</p>`)}
    ${job && html`<${Progress} job=${job} ended=${ended} failed=${setBroken} what="training" rest="The model in use is as it was." />`}
    ${model && html`<${Comparison} model=${model} models=${models} writes=${operator.writes} key=${model.id} />`}
    ${!model && html`<${Trend} />`}
    <${States} of=${work.of} what="The list" filtered=${Boolean(sign)}
      empty=${html`<${NoWork} />`}
      none=${html`<${Nothing} title="None of these"><p><a href=${here({ sign: "" })}>Show all</a></p></${Nothing}>`}>
      <${WorkList} work=${work} found=${found} chosen=${chosen} choose=${choose} takeBack=${takeBack} operator=${operator} learns=${!models.value || listOf(models.value.roles).length > 0} />
    </${States}></div>`;
}

// Nothing to label, which does not say that nothing went wrong.
function NoWork() {
  const { value } = useFetched("/counts", asked({ time: "7d" }));
  return html`<${Nothing} title="No questions to label"><p>Questions without an answer and replies with a thumb down come here, those of seven days.</p>
    ${value?.failed > 0 && html`<p><a href=${link(["conversations"], { kind: "failed", time: "7d" })}>Agents failed in ${plural(value.failed, "conversation")}</a>: see whether the replies were right all the same.</p>`}</${Nothing}>`;
}

// Which questions are shown, by a sign.
function Sign({ sign }) {
  const options = [["", "all signs"], ...Object.entries(SIGNS)];
  const choose = (chosen) => go(here({ sign: chosen, item: "" }));
  return html`<select aria-label="Which questions" value=${sign} onChange=${(event) => choose(event.target.value)}>
    ${options.map(([one, words]) => html`<option value=${one} selected=${one === sign}>${words}</option>`)}</select>`;
}

const Signs = ({ item }) => item.sign && html`<span class=${`sign ${item.sign === "down" ? "bad" : "mild"}`}>${SIGNS[item.sign] ?? text(item.sign)}</span>`;

// The rows that have no label yet, and the labels of this visit, of which the last can be taken back.
// `named` is one that was come for, which stands first.
function useLabels(found, named) {
  const [given, setGiven] = useState([]);
  const rows = useMemo(() => (named ? [named, ...listOf(found.value).filter((one) => one.id !== named.id)] : listOf(found.value)), [found.value, named]);
  const open = useMemo(() => {
    const done = new Set(given.map((one) => one.item.id));
    return rows.filter((one) => !done.has(one.id));
  }, [rows, given]);
  const without = (sending) => (list) => list.filter((one) => one.sending !== sending);
  const last = useRef(Promise.resolve());
  // Send in the order of the keys: what is taken back has to be gone before it is given anew.
  const inTurn = (sending) => (last.current = last.current.catch(() => {}).then(sending));
  async function label(item, agents, answer) {
    const sending = inTurn(() => send("POST", "/labels", { work: item.id, agents, answer }));
    const made = await attempt(() => setGiven((list) => [...list, { item, agents, sending }]), () => sending, () => setGiven(without(sending)));
    if (made) refresh("/work");
  }
  // Take the last one back, also where it is still on its way.
  async function undo() {
    const one = given.at(-1);
    const takeBack = () => inTurn(async () => {
      const made = await one.sending;
      await send("DELETE", `/labels/${encodeURIComponent(made.id)}`);
      return true;
    });
    if (await attempt(() => setGiven(without(one.sending)), takeBack, () => setGiven((list) => [...list, one]))) refresh("/work");
  }
  return { open, given, label, undo, inTurn, of: { ...found, value: found.value && rows } };
}

function WorkList({ work, found, chosen, choose, takeBack, operator, learns }) {
  const box = useRef(null);
  const { open, given } = work;
  const place = Math.max(0, open.indexOf(chosen));
  const step = (by) => () => {
    if (!open.length) return false;
    if (place + by >= open.length - 1) found.more();
    choose(open[Math.max(0, Math.min(open.length - 1, place + by))]);
    return true;
  };
  const label = (agents, answer = "") => {
    if (!chosen || !operator.writes) return;
    choose(open[place + 1] ?? open[place - 1]);
    work.label(chosen, agents, answer);
  };
  const undo = () => {
    const { item } = given.at(-1);
    work.undo();
    choose(item);
  };
  useKeys({
    j: step(1), k: step(-1), ArrowDown: step(1), ArrowUp: step(-1), z: () => (given.length > 0 ? (undo(), true) : false),
    s: () => (open.length ? (choose(open[(place + 1) % open.length]), true) : false),
  });
  useEffect(() => {
    box.current?.querySelector('[aria-current="true"]')?.scrollIntoView({ block: "nearest", inline: "nearest" });
  }, [chosen?.id]);
  return html`<div class="work">
    <div class="kinds-box" ref=${box}><ol class="kinds-list" aria-label="Questions, near duplicates together">${open.map((item) => html`<li key=${item.id}>
      <button class=${`item ${item === chosen ? "here" : ""}`} aria-current=${item === chosen ? "true" : undefined} onClick=${() => choose(item)}>
        <b class="times">${count(item.times)}×</b><span class="item-text">${saidLine(item.text)}</span>
        <span class="under"><${Signs} item=${item} /> <${When} at=${item.last} className="faint" /></span></button></li>`)}</ol>
      ${!open.length && html`<${Nothing} title="All done"><p class="faint">New ones come as people talk. ${plural(given.length, "label of yours waits", "labels of yours wait")} for a training.</p>
        ${given.length > 0 && html`<button class="press" onClick=${undo}><kbd>z</kbd> Take the last back</button>`}</${Nothing}>`}
      <${More} list=${found}>${open.length > 0 ? "most often first" : ""}</${More}></div>
    ${chosen && html`<${LabelForm} key=${`${chosen.id} ${chosen.label?.id}`} item=${chosen} offers=${offersOf(chosen)} operator=${operator} writes=${operator.writes} learns=${learns}
      label=${label} takeBack=${takeBack} skip=${step(1)} undo=${given.length ? undo : null} how=${link(["conversations", chosen.dialog_id, chosen.utt_id])} />`}
  </div>`;
}
