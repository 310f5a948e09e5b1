// AG-UI's client for JavaScript talks to our door: one line of JSON for each check, {id, ok, why}.
// It refuses events that its own schemas and its order of events do not allow.
import { HttpAgent } from '@ag-ui/client';

const base = process.argv[2];
const begun = (text) => {
  const agent = new HttpAgent({ url: `${base}/agui`, threadId: crypto.randomUUID() });
  agent.messages = [{ id: crypto.randomUUID(), role: 'user', content: text }];
  return agent;
};
const run = async (agent, input = {}) => {
  const events = [];
  const result = await agent.runAgent(input, { onEvent: ({ event }) => void events.push(event) });
  return { events, result };
};
const has = (events, type) => {
  if (!events.some((one) => one.type === type)) throw new Error(`no ${type} in ${events.map((one) => one.type)}`);
};
const equal = (expected, actual) => {
  if (expected !== actual) throw new Error(`expected ${JSON.stringify(expected)}, got ${JSON.stringify(actual)}`);
};

const checks = {
  'run-gives-a-message': async () => {
    const { result } = await run(begun('hi'));
    equal('You said: hi', result.newMessages.at(-1).content);
  },
  'skills-are-subagents': async () => has((await run(begun('hi'))).events, 'SUBAGENT_STARTED'),
  'state-is-told': async () => has((await run(begun('hi'))).events, 'STATE_SNAPSHOT'),
  'thread-goes-on': async () => {
    const agent = begun('one');
    await run(agent);
    agent.messages.push({ id: crypto.randomUUID(), role: 'user', content: 'two' });
    equal('You said: two', (await run(agent)).result.newMessages.at(-1).content);
  },
  'question-is-an-interrupt-that-is-resumed': async () => {
    const agent = begun('ask me');
    const { events } = await run(agent);
    const outcome = events.at(-1).outcome;
    equal('interrupt', outcome.type);
    const resume = [{ interruptId: outcome.interrupts[0].id, status: 'resolved', payload: 'Ann' }];
    equal('Hello, Ann!', (await run(agent, { resume })).result.newMessages.at(-1).content);
  },
};

for (const [id, check] of Object.entries(checks)) {
  const found = { id, ok: true, why: '' };
  try {
    await check();
  } catch (error) {
    Object.assign(found, { ok: false, why: `${error.constructor.name}: ${error.message}` });
  }
  console.log(JSON.stringify(found));
}
process.exit(0);
