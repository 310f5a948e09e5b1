// A person's choices, which are kept with the person.

import { choices, NOTHING, take } from "./choices.js";
import { setTheme, theme } from "./themes.js";
import { ask } from "./visitor.js";

// Ask the assistant what was chosen, here or elsewhere.
export async function loadChoices() {
  const found = await ask("/api/settings").catch(() => null);
  if (found === null || typeof found !== "object") return;
  const now = { ...NOTHING, ...found };
  if (now.theme && now.theme !== theme()) setTheme(now.theme);
  take(now);
}

// Keep what is chosen; an Error says why it was refused, and then it is as before.
export async function keepChoices(changes) {
  const [before, now] = [choices(), { ...choices(), ...changes }];
  take(now);
  const body = JSON.stringify(now);
  try {
    await ask("/api/settings", { method: "PUT", body, headers: { "Content-Type": "application/json" } });
  } catch (error) {
    take(before);
    throw error;
  }
}
