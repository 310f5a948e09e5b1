// The line on which turns are told of as they run: kept up, and gathered so that the page is drawn
// a few times a second, however much comes.

import { socketAddress } from "./api.js";

export const MOST = 200;
const LOST = 600;
const DRAWN = 250;
const RETRY = [1, 2, 4, 8, 15];

// `line`: "waiting", "open" or "broken" (`since`). `number` counts what has ended since the page
// was opened, `left` what was left out; `times` are [when, how long] of the last minute's turns.
export const EMPTY = { line: "waiting", since: 0, running: [], ended: [], waits: new Set(), left: 0, number: 0, clock: 0, times: [] };

// Follow the turns that a query asks for; `show` gets all that is known. The function that comes
// back ends it.
export function follow(query, show) {
  const running = new Map();
  const state = { ...EMPTY, waits: new Set(), times: [] };
  let socket = null;
  let tries = 0;
  let timer = null;
  let drawing = null;
  let over = false;

  function draw() {
    drawing = null;
    if (over) return;
    const clock = Date.now() / 1000;
    state.times = state.times.filter(([at]) => at > clock - 60);
    running.forEach((one, id) => one.at < clock - LOST && running.delete(id));
    show({ ...state, running: [...running.values()], clock });
    if (running.size) later();
  }

  function later() {
    drawing ??= setTimeout(draw, DRAWN);
  }

  function add(row) {
    state.ended = [row, ...state.ended].slice(0, MOST);
  }

  const take = {
    begun: (one) => running.set(one.turn_id, { ...one, at: Math.min(one.at, Date.now() / 1000), asked: [] }),
    asked: ({ turn_id, agents, at }) => change(turn_id, (asked) => [...asked, ...agents.map((name) => [name, Math.min(at, Date.now() / 1000)])]),
    settled: ({ turn_id, agent }) => change(turn_id, (asked) => without(asked, agent)),
    ended: (one) => {
      running.delete(one.turn_id);
      state.number += 1;
      state.times.push([Date.now() / 1000, one.seconds]);
      add(one);
    },
    breaker: (one) => add({ ...one, at: Date.now() / 1000, id: `${one.stage}.${one.agent}.${Math.random()}` }),
    waits: ({ dialog_id }) => (state.waits = new Set([...[...state.waits].slice(-MOST), dialog_id])),
    left_out: ({ n }) => (state.left += n),
  };

  function change(turn_id, of) {
    const one = running.get(turn_id);
    if (one) running.set(turn_id, { ...one, asked: of(one.asked) });
  }

  function open() {
    socket = new WebSocket(socketAddress("/live", query));
    socket.onopen = () => {
      tries = 0;
      Object.assign(state, { line: "open", since: Date.now() / 1000 });
      later();
    };
    socket.onmessage = (event) => {
      let message = null;
      try {
        message = JSON.parse(event.data);
      } catch {
        return;
      }
      if (!Object.hasOwn(take, message?.type)) return;
      take[message.type](message);
      later();
    };
    socket.onclose = () => {
      if (over) return;
      running.clear();
      if (state.line !== "broken") Object.assign(state, { line: "broken", since: Date.now() / 1000 });
      later();
      timer = setTimeout(open, 1000 * RETRY[Math.min(tries, RETRY.length - 1)]);
      tries += 1;
    };
  }

  open();
  return () => {
    over = true;
    clearTimeout(timer);
    clearTimeout(drawing);
    socket.close();
  };
}

function without(asked, agent) {
  const place = asked.findIndex(([name]) => name === agent);
  return asked.filter((_, n) => n !== place);
}
