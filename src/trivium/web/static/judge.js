/** Saves judgments without leaving the page, by click or key; on the results page too. */
import { alertOf, load, say, typing } from "./app.js";

document.addEventListener("submit", async (event) => {
  const form = /** @type {HTMLFormElement} */ (event.target);
  if (form.matches("[data-fits]")) return fits(event, form);
  if (!form.closest("[data-document]")) return;
  event.preventDefault();
  const body = new FormData(form, event.submitter);
  const answer = await load(form.action, "documents queries", { method: "POST", body });
  if (answer?.ok) say(document.getElementById("documents")?.dataset.said ?? "");
});

document.addEventListener("keydown", (event) => {
  if (!/^[012]$/.test(event.key) || event.ctrlKey || event.metaKey || event.altKey || typing(event.target)) return;
  const rows = [...document.querySelectorAll("[data-document]")];
  const open = (/** @type {Element} */ row) => !row.querySelector('[aria-pressed="true"]');
  const row = rows.find((one) => one.contains(document.activeElement)) ?? rows.find(open);
  const button = /** @type {HTMLElement | null | undefined} */ (row?.querySelector(`button[value="${event.key}"]`));
  if (!button || !row) return;
  const following = rows.slice(rows.indexOf(row) + 1).find(open);
  button.click();
  // Focus the next one, so that you can judge a whole list with one hand.
  /** @type {HTMLElement | null | undefined} */ (following?.querySelector("button"))?.focus();
});

/** Save whether one result is relevant. @param {SubmitEvent} event @param {HTMLFormElement} form */
async function fits(event, form) {
  event.preventDefault();
  const pressed = /** @type {HTMLElement} */ (event.submitter);
  const body = new FormData(form, pressed);
  const answer = await fetch(form.action, { method: "POST", body, headers: { "X-Part": "kept" } }).catch(() => null);
  if (!answer?.ok) return alertOf("Couldn't save your judgment.", "Try again.");
  for (const button of form.querySelectorAll("button")) button.setAttribute("aria-pressed", String(button === pressed));
  say("Judgment saved.");
}
