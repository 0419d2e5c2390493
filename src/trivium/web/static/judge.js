/** Judges without leaving the place, by click or by key. */
import { load, say, typing } from "./app.js";

document.addEventListener("submit", async (event) => {
  const form = /** @type {HTMLFormElement} */ (event.target);
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
  // The next one left gets the focus, so that a whole list is judged with one hand.
  /** @type {HTMLElement | null | undefined} */ (following?.querySelector("button"))?.focus();
});
