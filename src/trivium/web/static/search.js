/** The search screen: searches as you type, keeps the address up to date, moves by keys. */
import { cancel, load, say, typing } from "./app.js";

/** The form, which going back replaces too. */
const theForm = () => /** @type {HTMLFormElement} */ (document.getElementById("search"));
const PAUSE = 70; // ms without a key before a search: most people type faster than that
const SETTLED = 1500; // ms: what stood so long is worth a step of the back button
const DEFAULTS = { mode: "hybrid", combine: "minimum", weights: "" };

/** @type {number | undefined} */
let timer;
let changedAt = 0;

/** The form as an address, without default values. @param {string | null} explain */
function addressOf(explain) {
  const form = theForm();
  const data = new FormData(form);
  const pairs = new URLSearchParams();
  const several = data.getAll("q").filter((text) => String(text).trim()).length > 1;
  const fixed = data.get("weights") === "fixed";
  for (const [name, value] of data) {
    const text = String(value);
    if (!text.trim() || DEFAULTS[name] === text) continue;
    if (name === "combine" && !several) continue;
    if (name === "by" && text === form.dataset.usual) continue;
    if (/^w[vkt]$/.test(name) && !fixed) continue;
    pairs.append(name, text);
  }
  if (explain !== null) pairs.set("explain", explain);
  const query = pairs.toString();
  return query ? `/?${query}` : "/";
}

const explained = () => new URLSearchParams(location.search).get("explain");

/**
 * Search with the form's values. Adds a step for the back button if you chose something, or typed
 * after a pause.
 * @param {boolean} chosen
 */
async function search(chosen) {
  window.clearTimeout(timer);
  const address = addressOf(null);
  const now = performance.now();
  if (address !== location.pathname + location.search) {
    if (chosen || now - changedAt > SETTLED) history.pushState(null, "", address);
    else history.replaceState(null, "", address);
    changedAt = now;
  }
  const fixed = new FormData(theForm()).get("weights") === "fixed";
  const parts = `completions results facets chosen drawer${fixed ? "" : " weights"}`;
  shown(await load(address, parts, { kind: "search" }));
}

/** Results of another query don't stay below a new one that got none. @param {Response | null | false} answer */
function shown(answer) {
  if (answer?.ok) return after();
  if (answer === null) return; // a newer search is on its way
  const results = /** @type {HTMLElement} */ (document.getElementById("results"));
  results.dataset.count = "";
  results.innerHTML = '<div class="empty"><h2>Not searched.</h2></div>';
  /** @type {HTMLElement} */ (document.getElementById("drawer")).hidden = true;
  drawn();
}

function after() {
  const results = document.getElementById("results");
  say(results?.dataset.count ?? "");
  const first = /** @type {HTMLInputElement | null} */ (document.getElementById("q"));
  document.title = first?.value ? `${first.value} · Trivium` : "Trivium";
  drawn();
}

/** Lay out the screen with or without the drawer. */
function drawn() {
  const open = !(/** @type {HTMLElement} */ (document.getElementById("drawer")).hidden);
  document.getElementById("grid")?.classList.toggle("with-drawer", open);
}

/** Load everything for an address, the form included. @param {string} address */
async function follow(address) {
  shown(await load(address, "searchbox queries facets chosen choices results drawer", { kind: "search" }));
}

/** Open, change or close the drawer. @param {string | null} rank null: close */
async function explain(rank) {
  const before = explained(); // the result whose explanation closes
  const address = addressOf(rank);
  history.pushState(null, "", address);
  cancel("search");
  if (!(await load(address, "drawer results", { kind: "search" }))) return;
  drawn();
  const drawer = /** @type {HTMLElement} */ (document.getElementById("drawer"));
  if (rank !== null) {
    drawer.focus({ preventScroll: true });
    if (getComputedStyle(drawer).position === "static") drawer.scrollIntoView(); // below the results
  } else {
    const row = document.querySelector(`.result [data-explain="${Number(before)}"]`)?.closest("article");
    /** @type {HTMLElement | null} */ (row?.querySelector(".result-link") ?? document.getElementById("q"))?.focus();
  }
}

const links = () => /** @type {HTMLElement[]} */ ([...document.querySelectorAll(".result-link:not(details:not([open]) *)")]);

/** @param {number} at */
function focusResult(at) {
  const all = links();
  const one = all[Math.max(0, Math.min(at, all.length - 1))];
  one?.focus();
  one?.closest("article")?.scrollIntoView({ block: "nearest" });
}

document.addEventListener("input", (event) => {
  const field = /** @type {HTMLInputElement} */ (event.target);
  if (field.form?.id !== "search") return;
  if (field.type === "range") {
    const fixed = /** @type {HTMLInputElement} */ (document.getElementById("fixed"));
    fixed.checked = true;
    const told = field.parentElement?.querySelector("output");
    if (told) told.textContent = field.value;
  }
  window.clearTimeout(timer);
  if (field.type === "search" || field.type === "text") timer = window.setTimeout(search, PAUSE, false);
  else search(field.type !== "range");
});

document.addEventListener("submit", (event) => {
  const sent = /** @type {HTMLFormElement} */ (event.target);
  if (sent.id !== "search") return;
  event.preventDefault();
  const button = /** @type {SubmitEvent} */ (event).submitter;
  if (button instanceof HTMLButtonElement && button.name === "add") {
    const address = addressOf(null);
    load(`${address}${address.includes("?") ? "&" : "?"}add=1`, "queries", { kind: "queries" }).then(() =>
      /** @type {HTMLElement | null} */ (document.querySelector("[data-focus]"))?.focus(),
    );
  } else search(true);
});

document.addEventListener("click", (event) => {
  if (!(event.target instanceof Element) || event.ctrlKey || event.metaKey || event.shiftKey) return;
  const why = event.target.closest("[data-explain]");
  const followed = event.target.closest("a[data-follow], .clear-filters");
  const dropped = event.target.closest("[data-drop-query]");
  const toggle = event.target.closest(".options-toggle");
  const done = event.target.closest(".options-done");
  if (why) {
    event.preventDefault();
    explain(why.getAttribute("data-explain") || null);
  } else if (followed) {
    event.preventDefault();
    const address = followed.getAttribute("href") ?? "/";
    history.pushState(null, "", address);
    follow(address);
  } else if (dropped) {
    dropped.closest(".query")?.remove();
    const address = addressOf(null);
    history.pushState(null, "", address);
    follow(address).then(() => /** @type {HTMLElement | null} */ (document.getElementById("q"))?.focus());
  } else if (toggle) {
    const open = toggle.getAttribute("aria-expanded") !== "true";
    toggle.setAttribute("aria-expanded", String(open));
  } else if (done) {
    document.querySelector(".options-toggle")?.setAttribute("aria-expanded", "false");
    document.getElementById("results")?.scrollIntoView();
    focusResult(0);
  }
});

document.addEventListener("keydown", (event) => {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
  const target = /** @type {HTMLElement} */ (event.target);
  const at = links().indexOf(target);
  const inBox = target instanceof HTMLInputElement && target.name === "q";
  if (event.key === "ArrowDown" && (inBox || at >= 0)) focusResult(at + 1);
  else if (event.key === "ArrowUp" && at > 0) focusResult(at - 1);
  else if (event.key === "ArrowUp" && at === 0) document.getElementById("q")?.focus();
  else if (event.key === "Escape" && explained() !== null) explain(null);
  else if (event.key === "Escape" && at >= 0) document.getElementById("q")?.focus();
  else if (event.key === "e" && !typing(target)) {
    const rank = target.closest("article")?.dataset.rank;
    explain(rank && rank !== explained() ? rank : explained() === null ? "0" : null);
  } else return;
  event.preventDefault();
});

window.addEventListener("online", () => search(false));
window.addEventListener("popstate", () => follow(location.pathname + location.search));
// Files were added while this page was open.
document.addEventListener("library-changed", () => follow(location.pathname + location.search));
