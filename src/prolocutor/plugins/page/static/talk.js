// The conversation that is shown: its state, its line, and what a person can do in it.

import { play, ring } from "./bell.js";
import { timezone } from "./choices.js";
import { cutOff, doubted, EMPTY, firstId, lastId, opening, received, saying, settled } from "./conversation.js";
import { text } from "./safe.js";
import { setConversation, setSkill, setToken, turnTo } from "./visitor.js";
import { Wire } from "./wire.js";

const PAGE = 50;
const BEFORE = 20;
const DOUBT = 4000;

// Make the conversation; `show(state)` and `showLine(line)` are called when they change, `ended()`
// after each turn, and when the line is ready.
export function makeTalk(show, showLine, ended) {
  let state = EMPTY;
  const change = (next) => {
    if (next !== state) show((state = next));
  };
  const wire = new Wire({
    after: () => lastId(state),
    onLine(line) {
      if (line === "connecting") change(opening(state));
      if (line === "broken") change(cutOff(state));
      showLine(line);
    },
    onFrame(frame) {
      const before = state;
      change(received(state, frame));
      if (frame.type === "id" && typeof frame.id === "string") setConversation(frame.id);
      if (frame.type === "askSpecial") {
        send();
        doubt();
        if (!before.begun) earlier();
        ended();
      }
      if (state !== before) call(state.items.at(-1), before);
    },
  });

  // Ask for more of what was said before than the line tells by itself.
  function earlier() {
    const first = firstId(state);
    if (first > 0) wire.open(Math.max(-1, first - PAGE - 1));
  }

  // Send what waits for a line on which all earlier messages have come.
  function send() {
    for (const entry of state.caughtUp ? state.pending : []) {
      const frame = { ...entry.frame, key: entry.id, platformData: { timezone: timezone() } };
      if (entry.state === "waiting" && wire.send(frame)) change(settled(state, entry.key, "sent"));
    }
  }

  // Words without an echo on a new line wait for the turn that runs, or are lost: that shows soon.
  function doubt() {
    for (const { key, state: now } of state.pending) {
      if (now === "unsure") setTimeout(() => state.turn ?? change(doubted(state, key)), DOUBT);
    }
  }

  // Call the person where something new came that they did not ask for.
  function call(item, before) {
    if (!item?.news || before.items.at(-1) === item) return;
    if (item.frame.type === "sound") play(text(item.frame.name));
    else if (item.unasked && before.caughtUp) ring();
  }

  function say(frame, shown, id = newKey()) {
    change(saying(state, { key: `p${newKey()}`, id, frame, shown: text(shown), state: "waiting" }));
    send();
  }

  return {
    say,
    earlier,
    open: () => wire.open(),
    // Stop the turn that runs, if one does.
    stop: () => state.busy && wire.send({ type: "stop" }),
    // The same words by the same key are one turn, should they have arrived after all.
    again(entry) {
      change(settled(state, entry.key, null));
      say(entry.frame, entry.shown, entry.id);
    },
    enter(token) {
      setToken(token);
      change(EMPTY);
      wire.open(null);
    },
    // Talk to one skill alone, or (null) to the whole assistant.
    askOnly(skill) {
      setSkill(skill);
      wire.open();
    },
    // Show another conversation, from before the message with an id where one is given.
    turnTo(id, message = null) {
      turnTo(id);
      change(EMPTY);
      wire.open(message === null ? null : Math.max(-1, message - BEFORE));
    },
    // Have a message of this conversation, and all after it.
    reach(message) {
      if (firstId(state) > message) wire.open(Math.max(-1, message - BEFORE));
    },
  };
}

function newKey() {
  return [...crypto.getRandomValues(new Uint32Array(4))].map((one) => one.toString(36)).join("");
}
