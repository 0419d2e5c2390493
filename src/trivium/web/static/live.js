/** Forms whose list updates as you type, and copy buttons. */
import { load, say } from "./app.js";

const WAIT_MS = 120; // while someone types on

for (const form of document.querySelectorAll("form[data-live]")) {
  let waiting = 0;
  const follow = async () => {
    const data = new FormData(/** @type {HTMLFormElement} */ (form));
    const told = new URLSearchParams([...data].map(([name, value]) => [name, String(value)]));
    const place = `${form.getAttribute("action")}?${told}`;
    const part = form.getAttribute("data-live") ?? "";
    const answer = await load(place, part);
    if (!answer?.ok) return;
    history.replaceState(null, "", place);
    say(document.getElementById(part)?.dataset.said ?? "");
  };
  form.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(follow, WAIT_MS);
  });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    follow();
  });
}

document.addEventListener("click", async (event) => {
  const button = event.target instanceof Element ? event.target.closest("[data-copies]") : null;
  // The element it names, or else the text of its own turn.
  const named = button && document.getElementById(button.getAttribute("data-copies") || "none");
  const source = /** @type {HTMLElement | null | undefined} */ (named ?? button?.closest(".turn")?.querySelector(".copied"));
  if (!button || !source) return;
  try {
    await navigator.clipboard.writeText(source.textContent ?? "");
    button.textContent = "Copied";
    say("Copied.");
  } catch {
    // The browser doesn't allow it: select the text, so that you can copy it by hand.
    source.hidden = false;
    getSelection()?.selectAllChildren(source);
    say("Selected. Copy it with the keyboard.");
  }
});
