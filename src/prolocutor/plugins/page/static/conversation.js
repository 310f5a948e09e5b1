// The conversation as a value: what was said, what is waited for, what is on its way.

export const ASKS = [
  "yesno", "number", "date", "time", "location", "phone_number", "email_address", "contact",
  "picture", "password", "raw_string", "choice", "command", "generic",
];

export const EMPTY = {
  id: null,
  // {key, at, frame, news}: messages in the order of their ids; an error stands after the last.
  items: [],
  // What is asked for; null for nothing, as at the start.
  ask: null,
  // {key, frame, shown, state}: words without an echo; state "waiting", "sent", "unsure" (the line
  // broke meanwhile) or "failed".
  pending: [],
  // Whether an answer is being looked for.
  busy: false,
  // The turn that runs, null where none is known: {asked, skill, words}. `asked` are the skills that
  // have not settled, `words` what `skill` is saying, which is provisional.
  turn: null,
  // Whether a line was just opened, and messages of before come over it.
  replaying: true,
  // Whether all that was said before has come since the line broke, or ever.
  caughtUp: false,
  begun: false,
};

// Give the conversation after one more frame; those of no kind that is known change nothing.
export function received(state, frame) {
  if (frame.type === "id") return { ...state, id: frame.id };
  if (frame.type === "askSpecial") return expecting(state, frame.ask);
  if (frame.type === "error") return failed(state, frame);
  if (frame.type === "event") return happened(state, frame.event);
  return Number.isInteger(frame.id) ? heard(state, frame) : state;
}

// Give the conversation after something was handed over to be said.
export function saying(state, entry) {
  return { ...state, pending: [...state.pending, entry], busy: true };
}

// Give the conversation after one of its pending entries came into another state, or (null) went.
export function settled(state, key, change) {
  const pending = state.pending.flatMap((entry) => {
    if (entry.key !== key) return [entry];
    return change === null ? [] : [{ ...entry, state: change }];
  });
  return { ...state, pending };
}

// Give the conversation after it has not become clear whether these words have arrived.
export function doubted(state, key) {
  if (!state.pending.some((entry) => entry.key === key && entry.state === "unsure")) return state;
  const next = settled(state, key, "failed");
  return { ...next, busy: state.turn !== null || next.pending.some((entry) => entry.state !== "failed") };
}

// Give the conversation after a line was asked for.
export function opening(state) {
  return { ...state, replaying: true };
}

// Give the conversation after its line broke.
export function cutOff(state) {
  return { ...state, caughtUp: false, busy: false, turn: null };
}

export function lastId(state) {
  return state.items.findLast((item) => Number.isInteger(item.frame.id))?.frame.id ?? null;
}

export function firstId(state) {
  return state.items.find((item) => Number.isInteger(item.frame.id))?.frame.id ?? null;
}

// Give the keys of the choices that can still be chosen: nothing was said since.
export function openChoices(state) {
  if (state.pending.some((entry) => entry.state !== "failed")) return new Set();
  const since = state.items.findLastIndex((item) => item.frame.type === "command");
  const later = state.items.slice(since + 1).filter((item) => item.frame.type === "choice");
  return new Set(later.map((item) => item.key));
}

function heard(state, frame) {
  const known = state.items.find((item) => item.frame.id === frame.id);
  if (known && JSON.stringify(known.frame) === JSON.stringify(frame)) return state;
  if (known || (!state.replaying && frame.id <= (lastId(state) ?? -1))) {
    // The assistant has forgotten everything and counts from the start.
    return heard({ ...state, items: [], ask: null }, frame);
  }
  const own = frame.type === "command";
  const item = {
    key: `m${frame.id}`,
    at: frame.id,
    frame,
    news: state.begun && (!state.items.length || frame.id > lastId(state)),
    unasked: !own && !state.busy && !state.pending.length,
    time: state.begun && !state.replaying ? Date.now() : null,
  };
  const items = [...state.items, item].sort((one, other) => one.at - other.at);
  const isNew = frame.id > (lastId(state) ?? -1);
  const pending = own && isNew ? without(state.pending, frame.command) : state.pending;
  const turn = own ? state.turn : null;
  return { ...state, items, pending, turn, busy: own && item.news ? true : state.busy };
}

// Give the pending entries without the one of which this is the echo. What was taken for lost has
// arrived after all.
function without(pending, said) {
  const same = (entry) => entry.state !== "waiting" && entry.shown.trim() === String(said).trim();
  const live = pending.findIndex((entry) => entry.state !== "failed" && same(entry));
  const position = live < 0 ? pending.findIndex(same) : live;
  return position < 0 ? pending : pending.toSpliced(position, 1);
}

// Give the conversation after an event of the turn that runs. The reply itself comes as messages;
// what comes of its turn after them, or without a beginning, counts for nothing.
function happened(state, event) {
  if (event?.type === "TurnStarted") return { ...state, turn: NO_WORDS };
  if (event?.type === "TurnRuns") return { ...state, turn: NO_WORDS, busy: true };
  const next = state.turn && afterEvent(state.turn, event);
  return next === state.turn ? state : { ...state, turn: next };
}

const NO_WORDS = { asked: [], skill: null, words: "" };

function afterEvent(turn, event) {
  switch (event?.type) {
    case "ServiceAsked":
      return event.stage === "skills" ? { ...turn, asked: [...turn.asked, event.service] } : turn;
    case "ServiceSettled":
      return event.stage === "skills" ? { ...turn, asked: turn.asked.filter((one) => one !== event.service) } : turn;
    case "Delta":
      return typeof event.text === "string" ? { ...turn, skill: event.skill, words: turn.words + event.text } : turn;
    case "Replaced":
      return { ...turn, skill: null, words: "" };
    default:
      return turn;
  }
}

function expecting(state, ask) {
  // What was sent on the line before and has no echo by now was lost with it, or waits there.
  const lost = (entry) => !state.caughtUp && entry.state === "sent";
  const pending = state.pending.map((entry) => (lost(entry) ? { ...entry, state: "unsure" } : entry));
  return {
    ...state,
    ask: ASKS.includes(ask) ? ask : null,
    pending,
    busy: pending.some((entry) => entry.state !== "failed"),
    turn: null,
    replaying: false,
    caughtUp: true,
    begun: true,
  };
}

function failed(state, frame) {
  const at = (lastId(state) ?? -1) + 0.5;
  const item = { key: `e${state.items.length}.${at}`, at, frame, news: true, unasked: false };
  const [first, ...rest] = state.pending;
  const pending = first?.state === "sent" ? [{ ...first, state: "failed" }, ...rest] : state.pending;
  return { ...state, items: [...state.items, item], pending, busy: false, turn: null };
}
