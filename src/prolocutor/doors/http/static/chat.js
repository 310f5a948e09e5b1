// One message over the WebSocket for each text, and one answer for each message, in their order.
"use strict";

const said = document.getElementById("said");
const state = document.getElementById("state");
const user = document.getElementById("user");
const text = document.getElementById("text");
user.value = sessionStorage.getItem("user") || "web-" + Math.random().toString(36).slice(2, 10);

function show(kind, words, by) {
  const item = document.createElement("li");
  item.className = kind;
  item.textContent = words;
  if (by) {
    const name = document.createElement("small");
    name.textContent = by;
    item.append(name);
  }
  said.append(item);
  item.scrollIntoView({ block: "nearest" });
}

const address = new URL("/chat/ws" + location.search, location.href);
address.protocol = address.protocol.replace("http", "ws");
let socket;

function connect() {
  socket = new WebSocket(address);
  socket.onopen = () => { state.textContent = "Connected"; };
  socket.onmessage = (event) => {
    const answer = JSON.parse(event.data);
    if (typeof answer === "string") show("bot", answer.replaceAll("_", " "));
    else if (answer.error) show("bot", answer.error, answer.code);
    else show("bot", answer.response, answer.active_skill);
  };
  socket.onclose = () => {
    state.textContent = "Disconnected; trying again ...";
    setTimeout(connect, 2000);
  };
}

document.getElementById("say").addEventListener("submit", (event) => {
  event.preventDefault();
  if (socket.readyState !== WebSocket.OPEN) return;
  sessionStorage.setItem("user", user.value);
  const message = { payload: text.value };
  if (user.value) message.user_id = user.value;
  socket.send(JSON.stringify(message));
  show("human", text.value);
  text.value = "";
});
connect();
