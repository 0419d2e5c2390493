/** Asks without leaving the page: shows the answer as it is written, then the finished turn. */
import { alertOf, clearAlert, load, say } from "./app.js";
import { attach } from "./player.js";
import { events, problem } from "./stream.js";

const form = /** @type {HTMLFormElement} */ (document.getElementById("ask-form"));
const question = /** @type {HTMLTextAreaElement} */ (document.getElementById("question"));
const turns = /** @type {HTMLElement} */ (document.getElementById("turns"));
const stop = /** @type {HTMLButtonElement} */ (document.getElementById("stop"));
const pending = /** @type {HTMLTemplateElement} */ (document.getElementById("pending"));

/** @type {AbortController | null} */
let asking = null;

/** @param {HTMLElement} turn @param {FormData} data */
async function answered(turn, data) {
  const text = /** @type {HTMLElement} */ (turn.querySelector(".answer-text"));
  const step = /** @type {HTMLElement} */ (turn.querySelector(".step"));
  const steps = /** @type {HTMLElement} */ (turn.querySelector(".steps"));
  const answer = await fetch("/ask/stream", {
    method: "POST",
    body: data,
    headers: { "X-Part": "alert" },
    signal: asking?.signal,
  });
  if (!answer.ok) throw await problem(answer);
  for await (const { name, data: told } of events(answer)) {
    if (name === "step") {
      const line = document.createElement("li");
      line.textContent = told.line;
      steps.append(line);
      step.textContent = "Working on the answer …";
    }
    else if (name === "token") text.append(told.text);
    else if (name === "error") throw told;
    else if (name === "done") {
      turn.insertAdjacentHTML("afterend", told.html);
      const made = /** @type {HTMLElement} */ (turn.nextElementSibling);
      turn.remove();
      return { made, kind: told.kind, conversation: told.conversation };
    }
  }
  throw { detail: "The answer stopped early.", fix: "Ask again." };
}

async function ask() {
  if (asking || !question.value.trim()) return;
  clearAlert();
  const data = new FormData(form);
  const turn = /** @type {HTMLElement} */ (pending.content.firstElementChild?.cloneNode(true));
  const asked = question.value.trim();
  /** @type {HTMLElement} */ (turn.querySelector(".question")).textContent = asked;
  const first = !turns.firstElementChild;
  turns.append(turn);
  turn.scrollIntoView({ block: "nearest" });
  asking = new AbortController();
  stop.hidden = false;
  question.value = "";
  say("Searching for an answer.");
  try {
    const { made, kind, conversation } = await answered(turn, data);
    say(kind === "refused" ? "No answer found." : "The answer is ready.");
    made.scrollIntoView({ block: "nearest" });
    settle(conversation, first ? asked : "");
  } catch (error) {
    turn.remove();
    question.value = asked;
    if (asking?.signal.aborted) say("Stopped.");
    else if (error instanceof TypeError) alertOf("The server doesn't answer.", "Check that it is running, then ask again.");
    else alertOf(error.detail, error.fix);
  } finally {
    asking = null;
    stop.hidden = true;
    question.focus({ preventScroll: true });
  }
}

/** Put the question in the address. @param {string} conversation @param {string} asked */
function settle(conversation, asked) {
  /** @type {HTMLInputElement} */ (document.getElementById("conversation")).value = conversation;
  document.getElementById("save")?.remove();
  document.getElementById("suggested")?.remove();
  if (conversation && asked) load(`/ask?${new URLSearchParams({ conversation })}`, "kept");
  const place = new URLSearchParams(conversation ? { conversation } : { q: asked });
  if (conversation || asked) history.replaceState(null, "", `/ask?${place}`);
  question.placeholder = "Ask a follow-up question";
}

form.addEventListener("submit", (event) => {
  event.preventDefault();
  ask();
});
question.addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
  event.preventDefault();
  ask();
});
stop.addEventListener("click", () => asking?.abort());
if (form.hasAttribute("data-at-once")) ask();
else if (document.querySelector("#suggested[data-wanted]")) load("/ask", "suggested");

// A source opens beside the answer if there is room; otherwise its link opens the document.
const wide = matchMedia("(min-width: 1100px)");
const source = /** @type {HTMLElement} */ (document.getElementById("source"));
/** @type {HTMLElement | null} */
let opener = null;

/** @param {HTMLAnchorElement} link */
async function openSource(link) {
  const answer = await fetch(link.href, { headers: { "X-Part": "reading" } }).catch(() => null);
  if (!answer?.ok) return location.assign(link.href);
  const place = /** @type {HTMLElement} */ (document.getElementById("source-text"));
  place.innerHTML = await answer.text();
  /** @type {HTMLElement} */ (document.getElementById("source-title")).textContent = link.title || link.textContent;
  /** @type {HTMLAnchorElement} */ (document.getElementById("source-open")).href = link.href;
  for (const other of document.querySelectorAll("[data-source][aria-current]")) other.removeAttribute("aria-current");
  link.setAttribute("aria-current", "true");
  opener = link;
  source.hidden = false;
  document.getElementById("main")?.classList.add("with-source");
  attach();
  (place.querySelector("#here mark") ?? place.querySelector("#here"))?.scrollIntoView({ block: "center" });
  source.focus({ preventScroll: true });
}

function closeSource() {
  /** @type {HTMLMediaElement | null} */ (source.querySelector("audio, video"))?.pause();
  source.hidden = true;
  document.getElementById("main")?.classList.remove("with-source");
  opener?.removeAttribute("aria-current");
  opener?.focus();
}

document.addEventListener("click", (event) => {
  const link = event.target instanceof Element ? event.target.closest("a[data-source]") : null;
  if (!link || !wide.matches || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  openSource(/** @type {HTMLAnchorElement} */ (link));
});
document.getElementById("source-close")?.addEventListener("click", closeSource);
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape" && !source.hidden) closeSource();
});
