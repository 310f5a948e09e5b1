// A2A's SDK for JavaScript talks to our door: one line of JSON for each check, {id, ok, why}.
import { ClientFactory } from '@a2a-js/sdk/client';
import { Role, TaskState } from '@a2a-js/sdk';

const base = process.argv[2];
const client = await new ClientFactory().createFromUrl(base);
const words = (text, more = {}) => ({
  message: {
    messageId: crypto.randomUUID(),
    role: Role.ROLE_USER,
    parts: [{ content: { $case: 'text', value: text } }],
    ...more,
  },
});
const textOf = (message) => message.parts.map((one) => one.content?.value).filter((one) => typeof one === 'string').join(' ');
const replyOf = (result) => (result.status ? textOf(result.status.message ?? { parts: result.artifacts.flatMap((one) => one.parts) }) : textOf(result));
const streamed = async (events, each = async () => {}) => {
  const found = [];
  for await (const event of events) {
    found.push(event.payload.value);
    await each(event.payload.value, found);
  }
  return found;
};
const equal = (expected, actual) => {
  if (expected !== actual) throw new Error(`expected ${JSON.stringify(expected)}, got ${JSON.stringify(actual)}`);
};
const refused = async (name, call) => {
  try {
    await call();
  } catch (error) {
    return equal(true, error.constructor.name.includes(name));
  }
  throw new Error(`no ${name}`);
};

const checks = {
  'card-is-read': async () => equal('kit', (await client.getAgentCard()).name),
  'version-is-agreed-on': async () => equal('1.0', client.protocolVersion),
  'message-is-answered': async () => equal(true, replyOf(await client.sendMessage(words('hi'))).includes('You said: hi')),
  'context-goes-on': async () => {
    const first = await client.sendMessage(words('one'));
    const second = await client.sendMessage(words('two', { contextId: first.contextId }));
    equal(first.contextId, second.contextId);
  },
  'question-is-input-required-and-is-answered': async () => {
    const asked = await client.sendMessage(words('ask me'));
    equal(TaskState.TASK_STATE_INPUT_REQUIRED, asked.status.state);
    const { contextId, id } = asked;
    const done = await client.sendMessage(words('Ann', { contextId, taskId: id }));
    equal(TaskState.TASK_STATE_COMPLETED, done.status?.state ?? TaskState.TASK_STATE_COMPLETED);
    equal(true, replyOf(done).includes('Hello, Ann!'));
  },
  'stream-ends-with-the-answer': async () => {
    const seen = await streamed(client.sendMessageStream(words('hi')));
    equal(true, JSON.stringify(seen).includes('You said: hi'));
  },
  'task-is-found-again': async () => {
    const asked = await client.sendMessage(words('ask me'));
    equal(asked.id, (await client.getTask({ id: asked.id })).id);
  },
  'tasks-are-listed': async () => {
    const asked = await client.sendMessage(words('ask me'));
    const listed = await client.listTasks({ contextId: asked.contextId, status: TaskState.TASK_STATE_UNSPECIFIED });
    equal(asked.id, listed.tasks[0].id);
  },
  'stream-ends-when-its-task-is-cancelled': async () => {
    let cancelled = 0;
    const seen = await streamed(client.sendMessageStream(words('take long')), async (one, all) => {
      if (all.length === 1) {
        await client.cancelTask({ id: one.id });
        cancelled = Date.now();
      }
    });
    equal(TaskState.TASK_STATE_CANCELED, seen.at(-1).status.state);
    equal(true, Date.now() - cancelled < 3000);
  },
  'unknown-task-is-refused': () => refused('TaskNotFoundError', () => client.getTask({ id: 'none' })),
  'ended-task-is-not-cancelled': async () => {
    const done = await client.sendMessage(words('ask me'));
    await client.cancelTask({ id: done.id });
    await refused('TaskNotCancelableError', () => client.cancelTask({ id: done.id }));
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
