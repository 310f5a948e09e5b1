// The line to the assistant: one WebSocket, made again whenever it breaks.

import { admission, wireAddress } from "./visitor.js";

const SHORTEST = 500;
const LONGEST = 15_000;
const SIGN_OF_LIFE = 30_000;

export class Wire {
  // `onFrame` gets every frame; `onLine` "connecting", "open", "broken", "refused" or "sign-in";
  // `after` gives the id of the last message that is known, or null.
  constructor({ onFrame, onLine, after }) {
    this.onFrame = onFrame;
    this.onLine = onLine;
    this.after = after;
    this.socket = null;
    this.wait = SHORTEST;
    this.timer = null;
    addEventListener("online", () => this.renew());
    document.addEventListener("visibilitychange", () => document.hidden || this.hurry());
    setInterval(() => this.send({ type: "ping" }), SIGN_OF_LIFE);
  }

  open(after = this.after()) {
    clearTimeout(this.timer);
    this.leave();
    this.onLine("connecting");
    const socket = (this.socket = new WebSocket(wireAddress(after)));
    socket.onopen = () => {
      this.wait = SHORTEST;
      this.onLine("open");
    };
    socket.onmessage = (event) => this.take(event.data);
    socket.onclose = () => this.broken();
  }

  // Send a frame; false if there is no line to send it on.
  send(frame) {
    if (this.socket?.readyState !== WebSocket.OPEN) return false;
    this.socket.send(JSON.stringify(frame));
    return true;
  }

  // Try at once instead of waiting.
  hurry() {
    if (this.socket === null) this.open();
  }

  // Take the line for broken: the network is another one now, and nobody tells of its death.
  renew() {
    this.leave();
    this.onLine("broken");
    this.open();
  }

  leave() {
    if (this.socket === null) return;
    this.socket.onclose = this.socket.onmessage = this.socket.onopen = null;
    this.socket.close();
    this.socket = null;
  }

  take(data) {
    let frame;
    try {
      frame = JSON.parse(data);
    } catch {
      return;
    }
    if (frame === null || typeof frame !== "object") return;
    if (frame.type === "ping") this.send({ type: "ping" });
    else this.onFrame(frame);
  }

  async broken() {
    this.socket = null;
    this.onLine("broken");
    const wait = this.wait * (0.75 + Math.random() / 2);
    this.wait = Math.min(2 * this.wait, LONGEST);
    this.timer = setTimeout(() => this.hurry(), wait);
    const admitted = await admission();
    if ((admitted === "out" || admitted === "sign-in") && this.socket === null) {
      clearTimeout(this.timer);
      this.onLine(admitted === "out" ? "refused" : "sign-in");
    }
  }
}
