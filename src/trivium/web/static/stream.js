/** Reads server-sent events from any request: EventSource can only GET, and reconnects. */

/**
 * @param {Response} answer
 * @returns {AsyncGenerator<{name: string, data: any}>}
 */
export async function* events(answer) {
  if (!answer.body) return;
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  let held = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    held += value;
    const blocks = held.split("\n\n");
    held = blocks.pop() ?? "";
    for (const block of blocks) {
      const name = /^event: (.*)$/m.exec(block)?.[1];
      const data = /^data: (.*)$/m.exec(block)?.[1];
      if (name && data) yield { name, data: JSON.parse(data) };
    }
  }
}

/**
 * The error in a refused request: a problem document, or a page's alert.
 * @param {Response} answer
 * @returns {Promise<{detail: string, fix: string}>}
 */
export async function problem(answer) {
  const text = await answer.text();
  try {
    const told = JSON.parse(text);
    return { detail: told.detail ?? "Something went wrong.", fix: told.fix ?? "" };
  } catch {
    const made = document.createElement("template");
    made.innerHTML = text;
    return { detail: made.content.textContent?.trim() || "Something went wrong.", fix: "" };
  }
}
