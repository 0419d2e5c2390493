/** Runs a set and shows its progress, then the results. */
import { alertOf, clearAlert, say } from "./app.js";
import { events, problem } from "./stream.js";

const form = /** @type {HTMLFormElement | null} */ (document.querySelector("[data-run]"));
const running = /** @type {HTMLElement} */ (document.getElementById("running"));
/** @type {Record<string, string>} what people call them */
const stages = JSON.parse(form?.dataset.stages ?? "{}");
const bar = /** @type {HTMLProgressElement} */ (document.getElementById("progress"));
const stage = /** @type {HTMLElement} */ (document.getElementById("stage"));

form?.addEventListener("submit", async (event) => {
  event.preventDefault();
  const button = /** @type {HTMLButtonElement} */ (form.querySelector("button"));
  button.disabled = true;
  running.hidden = false;
  clearAlert();
  say("Run started.");
  try {
    const answer = await fetch(`/v1/evaluations/${form.dataset.run}/runs`, {
      method: "POST",
      body: "{}",
      headers: { "Content-Type": "application/json", "X-Part": "alert" },
    });
    if (!answer.ok) throw await problem(answer);
    for await (const { name, data } of events(answer)) {
      if (name === "error") throw data;
      if (name === "done") return location.assign(`/evaluate/${form.dataset.run}?run=${data.id}`);
      stage.textContent = `${stages[data.stage] ?? data.stage}: ${data.done} of ${data.total}`;
      bar.value = data.total ? data.done / data.total : 0;
    }
    throw { detail: "The run stopped early.", fix: "Run it again." };
  } catch (error) {
    alertOf(error.detail ?? "The server doesn't answer.", error.fix ?? "");
    button.disabled = false;
    running.hidden = true;
  }
});

for (const choice of document.querySelectorAll("[data-follow] select")) {
  choice.addEventListener("change", () => /** @type {HTMLSelectElement} */ (choice).form?.requestSubmit());
}
