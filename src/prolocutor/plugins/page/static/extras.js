// What goes with words: a file, and who alone is asked. The dialog comes when it is first opened.

import { useInfo } from "./page_info.js";
import { html, useEffect, useRef } from "./ui.js";
import { currentSkill } from "./visitor.js";

export default function Extras({ attach, askOnly, close }) {
  const { agents } = useInfo();
  const box = useRef(null);
  const skill = currentSkill();
  useEffect(() => box.current.showModal(), []);
  const choose = (event) => {
    askOnly(event.target.value || null);
    close();
  };
  const take = (event) => {
    attach(event.target.files);
    close();
  };
  return html`<dialog class="question settings" ref=${box} aria-labelledby="extras-title" onCancel=${(event) => (event.preventDefault(), close())}
      onKeyDown=${(event) => event.key === "Escape" && event.stopPropagation()}>
    <h2 id="extras-title">With your words</h2>
    <label><span>A picture, a PDF or a text (also by pasting or dropping it)</span>
      <input type="file" accept="image/png,image/jpeg,image/gif,image/webp,application/pdf,.txt,.csv" onChange=${take} /></label>
    <label><span>Who is asked</span><select onChange=${choose}>
      <option value="" selected=${!skill}>Everybody who may know</option>
      ${agents.map(({ name }) => html`<option value=${name} selected=${name === skill}>only ${name}</option>`)}</select></label>
    <div class="pair"><button class="press" onClick=${close}>Close</button></div>
  </dialog>`;
}
