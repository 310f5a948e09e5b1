// The calls of one turn word for word: what each service was asked, what it answered, what went over
// HTTP, and of a model its messages, tokens, time to the first word and price.

import { CopyButton } from "./copying.js";
import { useFetched } from "./fetching.js";
import { count, duration, money, plural } from "./figures.js";
import { Long } from "./long.js";
import { Choice, States, listOf } from "./parts.js";
import { text } from "./safe.js";
import { html, useState } from "./ui.js";
import { Failure } from "./wording.js";

// `service` names the one whose call is shown, "" for the first; `choose` shows that of another.
export default function Calls({ turnId, service, choose }) {
  const found = useFetched(`/calls/${encodeURIComponent(turnId)}`);
  const items = listOf(found.value?.items);
  const [chosen, setChosen] = useState(""); // one of several calls of the service
  const at = Math.max(0, [items.findIndex((one) => one.key === chosen && one.service === service), items.findIndex((one) => one.service === service)].find((place) => place >= 0) ?? 0);
  const show = (key) => {
    setChosen(key);
    choose(text(items.find((one) => one.key === key)?.service));
  };
  if (found.error?.status === 404) return html`<p class="faint">${text(found.error.message)}. Run the turn again to see those of now.</p>`;
  return html`<${States} of=${{ ...found, value: found.value && items }} what="The list of calls" rows=${3} empty=${html`<p class="faint">Nobody was called.</p>`}>
    <p class="acts"><${Choice} label="Which call" value=${items[at]?.key} choose=${show}
      options=${items.map((one) => [one.key, `${text(one.service)} · ${text(one.stage).replaceAll("_", " ")}${one.error ? " · failed" : ""}`])} />
      <span class="faint">${plural(items.length, "call")}</span></p>
    ${items[at] && html`<${Call} key=${items[at].key} call=${items[at]} />`}</${States}>`;
}

function Call({ call }) {
  const wire = listOf(call.wire);
  const models = wire.map(modelOf).filter(Boolean);
  const cost = listOf(parsed(call.reply))[0]?.cost;
  return html`<p class="faint"><code>${text(call.key)}</code> · ${call.seconds === null ? "left behind before it ended" : duration(call.seconds)}</p>
    ${models.map((model) => html`<${Model} model=${model} cost=${cost} />`)}
    <${Body} name="Request" body=${call.request} />
    ${call.error ? html`<p class="wrong" dir="auto">${text(call.code) && html`<${Failure} code=${call.code} />: `}<${Long} value=${call.error} /></p>` : html`<${Body} name="Reply" body=${call.reply ?? "(none)"} />`}
    ${wire.map((one) => html`<h3>Over HTTP: <code>${text(one.url)}</code> <small>${one.status ? `status ${one.status}, ${duration(one.seconds)}` : "no answer"}</small></h3>
      <${Body} name="Sent" body=${one.request} /><${Body} name="Received" body=${one.reply} />`)}`;
}

function Model({ model, cost }) {
  const { usage, first, messages } = model;
  return html`<dl class="figures">
      <div><dt>model</dt><dd>${model.name}</dd></div>
      <div><dt>tokens read, written</dt><dd>${usage ? `${count(usage.read)}, ${count(usage.written)}` : "not told"}</dd></div>
      <div><dt>first word after</dt><dd>${Number.isFinite(first) ? duration(first) : "it did not stream"}</dd></div>
      <div><dt>price</dt><dd>${money(cost)}</dd></div></dl>
    <ol class="messages">${messages.map((one) => html`<li><b class="faint">${text(one?.role)}</b> <span dir="auto"><${Long} value=${typeof one?.content === "string" ? one.content : JSON.stringify(one?.content ?? one)} /></span></li>`)}</ol>`;
}

function Body({ name, body }) {
  const shown = pretty(body);
  return html`<section class="body"><h3>${name} <${CopyButton} source=${shown} /></h3><pre tabindex="0" dir="auto">${shown || "(nothing)"}</pre></section>`;
}

// Give what an exchange with a model says of it; null for any other.
function modelOf(one) {
  const sent = parsed(one.request);
  const messages = sent?.messages ?? sent?.input;
  if (typeof sent?.model !== "string" || !Array.isArray(messages)) return null;
  const events = text(one.reply).split("\n").filter((line) => line.startsWith("data:")).map((line) => parsed(line.slice(5)));
  const told = [parsed(one.reply), ...events].map((event) => event?.usage ?? event?.response?.usage).findLast(Boolean);
  const usage = told && { read: told.prompt_tokens ?? told.input_tokens, written: told.completion_tokens ?? told.output_tokens };
  return { name: sent.model, messages, usage, first: one.first };
}

function parsed(body) {
  try {
    return JSON.parse(body);
  } catch {
    return null;
  }
}

const pretty = (body) => (parsed(body) === null ? text(body) : JSON.stringify(parsed(body), null, 1));
