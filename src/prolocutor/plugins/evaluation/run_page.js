"use strict";
// The table of dialogs: filtered, sorted, opened. All that was said is put in as text, never as HTML.
const data = JSON.parse(document.getElementById("data").textContent);
const PAGE = 200;
const byId = (id) => document.getElementById(id);
const make = (tag, text, kind) => {
  const one = document.createElement(tag);
  if (text !== undefined && text !== null) one.textContent = text;
  if (kind) one.className = kind;
  return one;
};
const shown = (value) => (value === null || value === undefined ? "" : value.toFixed(3));
let found = [];
let drawn = 0;

for (const dialog of data.dialogs) {
  const words = [dialog.group];
  for (const turn of dialog.turns) words.push(turn.text, turn.answer, turn.error, turn.by, ...turn.labels);
  dialog.words = words.join("\n").toLowerCase();
  dialog.who = new Set(dialog.turns.map((turn) => turn.by));
  dialog.failed = dialog.turns.some((turn) => turn.error !== null);
  dialog.seconds = Math.max(...dialog.turns.map((turn) => turn.seconds));
  dialog.means = {};
  for (const metric of data.metrics) {
    const scores = dialog.turns.map((turn) => turn.scores[metric]).filter((one) => typeof one === "number");
    dialog.means[metric] = scores.length ? scores.reduce((sum, one) => sum + one, 0) / scores.length : null;
  }
}

function options(select, names) {
  for (const name of names) {
    const option = make("option", name || "-");
    option.value = name;
    select.append(option);
  }
}

function filter() {
  const words = byId("search").value.toLowerCase().split(/\s+/).filter(Boolean);
  const [group, who, outcome, metric] = ["group", "who", "outcome", "metric"].map((id) => byId(id).value);
  const order = byId("order").value;
  found = data.dialogs.filter((dialog) => {
    const score = dialog.means[metric];
    return words.every((word) => dialog.words.includes(word))
      && (group === "*" || dialog.group === group)
      && (who === "*" || dialog.who.has(who))
      && (outcome === "*" || (outcome === "failed" ? dialog.failed
        : score !== null && (outcome === "right" ? score >= 0.5 : score < 0.5)));
  });
  const last = (value) => (value === null || value === undefined ? Infinity : value);
  if (order === "worst") found.sort((a, b) => last(a.means[metric]) - last(b.means[metric]));
  if (order === "slowest") found.sort((a, b) => b.seconds - a.seconds);
  byId("rows").replaceChildren();
  drawn = 0;
  draw();
}

function draw() {
  const metric = byId("metric").value;
  const rows = found.slice(drawn, drawn + PAGE).map((dialog) => row(dialog, metric));
  byId("rows").append(...rows);
  drawn += rows.length;
  byId("count").textContent = `${found.length} of ${data.dialogs.length} dialogs`;
  byId("more").hidden = drawn >= found.length;
}

function row(dialog, metric) {
  const line = make("tr", null, "dialog");
  const score = dialog.means[metric];
  const first = dialog.turns[0];
  const mark = dialog.failed ? "failed" : score !== null && score >= 0.5 ? "right" : "";
  line.tabIndex = 0;
  line.append(
    make("td", dialog.name, "number"), make("td", dialog.group), make("td", first.text, "said"),
    make("td", first.error === null ? first.answer : first.error, `said ${first.error === null ? "" : "failed"}`),
    make("td", [...dialog.who].filter(Boolean).join(", ")), make("td", String(dialog.turns.length), "number"),
    make("td", shown(score), `number ${mark}`), make("td", `${dialog.seconds.toFixed(3)} s`, "number"),
  );
  const open = () => {
    const next = line.nextElementSibling;
    if (next && next.classList.contains("opened")) next.remove();
    else line.after(opened(dialog));
  };
  line.addEventListener("click", open);
  line.addEventListener("keydown", (event) => {
    if (event.key === "Enter") open();
  });
  return line;
}

function opened(dialog) {
  const line = make("tr", null, "opened");
  const cell = make("td");
  const turns = make("div", null, "turns");
  cell.colSpan = 8;
  for (const turn of dialog.turns) {
    const box = make("div", null, "turn");
    box.append(make("p", turn.text));
    if (turn.labels.length) box.append(make("p", `right: ${turn.labels.join(" | ")}`, "who"));
    box.append(turn.error === null ? make("p", `→ ${turn.answer}`) : make("p", turn.error, "failed"));
    const scores = Object.entries(turn.scores).map(([name, score]) => `${name} ${shown(score)}`);
    box.append(make("p", [`example ${turn.n}`, turn.by, `${turn.seconds.toFixed(3)} s`, ...scores].join(" · "), "who"));
    if (turn.others.length) {
      const others = make("details");
      others.append(make("summary", `${turn.others.length} other candidates`, "who"));
      for (const other of turn.others) others.append(make("p", other));
      box.append(others);
    }
    turns.append(box);
  }
  cell.append(turns);
  line.append(cell);
  return line;
}

const sorted = (names) => [...new Set(names)].sort();
options(byId("group"), sorted(data.dialogs.map((dialog) => dialog.group)));
options(byId("who"), sorted(data.dialogs.flatMap((dialog) => [...dialog.who])));
options(byId("metric"), data.metrics);
for (const id of ["search", "group", "who", "outcome", "metric", "order"]) byId(id).addEventListener("input", filter);
byId("more").addEventListener("click", draw);
filter();
