/** Forms whose list follows what is typed, and buttons that copy. */
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
  const source = button && document.getElementById(button.getAttribute("data-copies") ?? "");
  if (!button || !source) return;
  try {
    await navigator.clipboard.writeText(source.textContent ?? "");
    button.textContent = "Copied";
    say("Copied.");
  } catch {
    // No leave to write there: it is selected, for whoever copies by hand.
    getSelection()?.selectAllChildren(source);
    say("Selected. Copy it with the keyboard.");
  }
});
