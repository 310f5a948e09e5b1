// What can be done with one conversation, in a dialog that comes when it is first opened.

import { speakers, text } from "./safe.js";
import { timeOfId, wholeTime } from "./times.js";
import { html, useEffect, useRef, useState } from "./ui.js";
import { ask } from "./visitor.js";

const MOST_PAGES = 200;

export default function TalkMenu({ talk, title, talks, close, rename, remove }) {
  const box = useRef(null);
  const field = useRef(null);
  const [view, setView] = useState("menu");
  const [told, setTold] = useState("");
  const [wrong, setWrong] = useState("");
  const [link, setLink] = useState(null);
  const shares = (method) => ask(`/api/shares/${encodeURIComponent(talk.id)}`, { method });
  useEffect(() => {
    box.current.showModal();
    shares("GET").then(setLink, () => {}); // nothing is offered where the assistant shares nothing
  }, []);
  const attempt = (work, after) => work().then(
    () => (setWrong(""), after?.()),
    (error) => error.name === "AbortError" || setWrong(error.message),
  );
  const change = (changes) => attempt(() => talks.change(talk.id, changes), close);
  const tag = (event) => {
    event.preventDefault();
    change({ tags: field.current.value.split(",").map((one) => one.trim()).filter(Boolean) });
  };
  const save = (name, type, make) => attempt(async () => {
    setTold("Reading the conversation…");
    download(`${fileName(title)}.${name}`, type, make(title, await whole(talk.id)));
    setTold("It is in your downloads.");
  });
  const share = () => attempt(async () => {
    const words = asMarkdown(title, await whole(talk.id));
    if (navigator.share) return navigator.share({ title, text: words });
    await navigator.clipboard.writeText(words);
    setTold("It is copied, to be pasted elsewhere.");
  });
  const publish = () => attempt(async () => {
    const made = await shares("PUT");
    setLink(made);
    const copied = await navigator.clipboard?.writeText(location.origin + made.path).then(() => true, () => false);
    setTold(copied ? "The link is copied." : "");
  });
  const unpublish = () => attempt(async () => {
    await shares("DELETE");
    setLink({ path: null });
    setTold("The link leads to nothing any more.");
  });
  const item = (words, press, more = "") => html`<li><button class=${`quiet ${more}`} onClick=${press}>${words}</button></li>`;
  const views = {
    menu: () => html`<ul class="menu">
      ${item(talk.pinned ? "Unpin" : "Pin to the top", () => change({ pinned: !talk.pinned }))}
      ${item("Rename", rename)}
      ${item("Tags…", () => setView("tags"))}
      ${item(talk.archived ? "Bring back" : "Archive", () => change({ archived: !talk.archived }))}
      ${link && item("Share by a link…", () => setView("link"), "parted")}
      ${item("Share the words", share, link ? "" : "parted")}
      ${item("Export as Markdown", () => save("md", "text/markdown", asMarkdown))}
      ${item("Export as JSON", () => save("json", "application/json", asJson))}
      ${item("Delete", remove, "danger parted")}</ul>`,
    tags: () => html`<form class="tagging" onSubmit=${tag}><label><span>Tags, with commas between</span>
      <input ref=${field} type="text" maxlength="250" defaultValue=${(talk.tags ?? []).join(", ")} /></label>
      <div class="pair"><button class="press" type="button" onClick=${() => setView("menu")}>Back</button>
        <button class="press strong">Keep the tags</button></div></form>`,
    link: () => html`<div class="sharing"><p>${link.path ? "Anybody with this link reads what was said until it was made, without an account:" : "A link lets others read what was said until now, without an account."}</p>
      ${link.path && html`<input type="text" readonly aria-label="The link" value=${location.origin + link.path} onFocus=${(event) => event.target.select()} />`}
      <div class="pair"><button class="press" onClick=${() => setView("menu")}>Back</button>
        ${link.path && html`<button class="press danger" onClick=${unpublish}>Stop sharing</button>`}
        <button class="press strong" onClick=${publish}>${link.path ? "Share up to now" : "Make a link"}</button></div></div>`,
  };
  return html`<dialog class="question settings" ref=${box} aria-labelledby="talk-title" onCancel=${(event) => (event.preventDefault(), close())}
      onKeyDown=${(event) => event.key === "Escape" && event.stopPropagation()}>
    <h2 id="talk-title">${title}</h2>
    ${views[view]()}
    <p class="faint told" role="status">${told}</p>
    ${wrong && html`<p class="wrong" role="alert">${wrong}</p>`}
    ${view === "menu" && html`<div class="pair"><button class="press" onClick=${close}>Close</button></div>`}
  </dialog>`;
}

// Read all that was said in a conversation.
async function whole(id) {
  const said = [];
  let after = -1;
  for (let page = 0; page < MOST_PAGES && after !== null; page += 1) {
    const found = await ask(`/api/conversations/${encodeURIComponent(id)}`, { query: { after } });
    said.push(...found.items);
    after = found.next;
  }
  return said;
}

function asMarkdown(title, said) {
  const parts = [];
  let asked = null;
  for (const { message } of said) {
    const own = message.type === "command";
    const words = own ? message.command : message.text ?? message.fallback ?? message.title ?? message.url ?? message.rdl?.webCallback;
    if (own) asked = parts.length;
    const time = timeOfId(message.utt_id);
    const when = time ? ` (${wholeTime(time)})` : "";
    if (when && asked !== null) parts[asked] = parts[asked]?.replace("**You**", `**You**${when}`); // words have the time of their reply
    if (when) asked = null;
    parts.push(text(words) && `**${own ? "You" : speakers(message) || "Assistant"}**${when}\n\n${text(words)}`);
  }
  return `# ${title}\n\n${parts.filter(Boolean).join("\n\n")}\n`;
}

const asJson = (title, said) => `${JSON.stringify({ title, messages: said.map(({ id, message }) => ({ ...message, id })) }, null, 1)}\n`;

const fileName = (title) => title.replace(/[^\p{L}\p{N} _-]+/gu, "").trim().slice(0, 60) || "conversation";

function download(name, type, content) {
  const address = URL.createObjectURL(new Blob([content], { type }));
  Object.assign(document.createElement("a"), { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}
