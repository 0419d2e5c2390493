/** Sends files one by one with their progress, and follows every job. */
import { alertOf, say } from "./app.js";

const AT_ONCE = 2; // uploads: one is read by the server while the next is on its way
const form = /** @type {HTMLFormElement} */ (document.getElementById("upload"));
const section = /** @type {HTMLElement} */ (document.getElementById("sending"));
const list = /** @type {HTMLElement} */ (document.getElementById("uploads"));
const together = /** @type {HTMLElement} */ (document.getElementById("together"));
const jobs = /** @type {HTMLElement} */ (document.getElementById("jobs"));
const most = Number(form.dataset.most);

/** @typedef {{file: File, name: string, row: HTMLElement, sent: number, ended: boolean, failed: boolean}} Upload */
/** @type {Upload[]} */
const uploads = [];
/** @type {Upload[]} */
const waiting = [];
let underway = 0;
let begun = 0;

/** @param {Upload} upload @param {string} part */
const at = (upload, part) => /** @type {HTMLElement} */ (upload.row.querySelector(part));

/** @param {number} seconds */
function left(seconds) {
  if (!Number.isFinite(seconds)) return "";
  return seconds < 60 ? `, ${Math.max(1, Math.round(seconds))} s left` : `, ${Math.round(seconds / 60)} min left`;
}

/** @param {number} bytes */
const size = (bytes) =>
  bytes < 1e6 ? `${Math.ceil(bytes / 1e3)} kB` : `${(bytes / 1e6).toFixed(1)} MB`;

/** @param {Upload} upload @param {string} state @param {string} told @param {string} [kind] */
function show(upload, state, told, kind = "") {
  const badge = at(upload, ".badge");
  badge.textContent = state;
  badge.className = `badge ${kind}`;
  at(upload, ".hint").textContent = told;
}

/** @param {File} file @param {string} name */
function take(file, name) {
  const made = /** @type {HTMLTemplateElement} */ (document.getElementById("sent"));
  const row = /** @type {HTMLElement} */ (made.content.firstElementChild?.cloneNode(true));
  const upload = { file, name, row, sent: 0, ended: false, failed: false };
  at(upload, ".what").textContent = name;
  at(upload, "progress").setAttribute("aria-label", name);
  at(upload, ".again").addEventListener("click", () => {
    upload.failed = upload.ended = false;
    upload.sent = 0;
    queue(upload);
  });
  at(upload, ".dismiss").addEventListener("click", () => drop(upload));
  uploads.push(upload);
  list.append(row);
  if (file.size > most) fail(upload, `It is larger than ${size(most)}, the most that is read.`);
  else if (!file.size) fail(upload, "It is empty.");
  else queue(upload);
}

/** @param {Upload} upload */
function queue(upload) {
  show(upload, "waiting", size(upload.file.size));
  at(upload, "progress").hidden = false;
  at(upload, ".row:last-child").hidden = true;
  waiting.push(upload);
  next();
}

/** @param {Upload} upload @param {string} why */
function fail(upload, why) {
  upload.ended = upload.failed = true;
  show(upload, "failed", why, "bad");
  at(upload, "progress").hidden = true;
  at(upload, ".row:last-child").hidden = false;
  say(`${upload.name} failed: ${why}`);
  tell();
}

/** @param {Upload} upload */
function drop(upload) {
  upload.row.remove();
  uploads.splice(uploads.indexOf(upload), 1);
  tell();
}

function next() {
  section.hidden = !uploads.length;
  if (!underway) begun = performance.now();
  while (underway < AT_ONCE && waiting.length) send(/** @type {Upload} */ (waiting.shift()));
  tell();
}

/** How far all of them are. */
function tell() {
  section.hidden = !uploads.length;
  const open = uploads.filter((one) => !one.ended);
  const bytes = open.reduce((sum, one) => sum + one.file.size - one.sent, 0);
  const sent = uploads.reduce((sum, one) => sum + one.sent, 0);
  const rate = sent / ((performance.now() - begun) / 1000);
  together.textContent = open.length ? `${open.length} to send${left(bytes / rate)}` : "";
}

/** @param {Upload} upload */
function send(upload) {
  underway += 1;
  const data = new FormData(form);
  for (const [name, value] of [...data]) if (name === "file" || !value) data.delete(name);
  data.set("file", upload.file, upload.name);
  const request = new XMLHttpRequest(); // fetch does not tell how much was sent
  const since = performance.now();
  request.upload.addEventListener("progress", (event) => {
    upload.sent = Math.min(event.loaded, upload.file.size);
    const share = event.loaded / event.total;
    at(upload, "progress").setAttribute("value", String(share));
    const seconds = (performance.now() - since) / 1000;
    show(upload, "sending", `${size(upload.sent)} of ${size(upload.file.size)}${left(seconds / share - seconds)}`);
    tell();
  });
  request.addEventListener("loadend", () => {
    underway -= 1;
    ended(upload, request);
    next();
  });
  request.open("POST", "/v1/documents?wait=false");
  request.setRequestHeader("X-Part", "alert"); // what fails is told to a person
  request.send(data);
}

/** @param {Upload} upload @param {XMLHttpRequest} request */
function ended(upload, request) {
  if (!request.status) return fail(upload, "The server does not answer.");
  let told;
  try {
    told = JSON.parse(request.responseText);
  } catch {
    return fail(upload, "The server's answer cannot be read.");
  }
  if (request.status !== 202) return fail(upload, `${told.detail ?? "That did not work."} ${told.fix ?? ""}`.trim());
  upload.ended = true;
  const job = told.job.id;
  if (!document.getElementById(`job-${job}`)) {
    upload.row.id = `job-${job}`; // its news takes this row's place
    show(upload, "waiting", "It is there, and waits to be read.");
    at(upload, "progress").removeAttribute("value");
    jobs.prepend(upload.row);
  }
  if (upload.row.parentElement === list) upload.row.remove();
  uploads.splice(uploads.indexOf(upload), 1);
}

/** The files below an entry that was dropped, with their way in front of the name. @param {any} entry @param {string[]} way */
async function* below(entry, way) {
  if (entry.name.startsWith(".")) return;
  if (entry.isFile) {
    const file = await new Promise((resolve, reject) => entry.file(resolve, reject));
    yield { file, name: named([...way, file.name]) };
    return;
  }
  const reader = entry.createReader();
  for (;;) {
    const some = await new Promise((resolve, reject) => reader.readEntries(resolve, reject));
    if (!some.length) return;
    for (const inner of some) yield* below(inner, [...way, entry.name]);
  }
}

/** Files of one name in two folders are two documents. @param {string[]} way */
const named = (way) => way.join(" › ");

form.addEventListener("submit", (event) => event.preventDefault());
for (const input of /** @type {NodeListOf<HTMLInputElement>} */ (form.querySelectorAll('input[type="file"]'))) {
  input.addEventListener("change", () => {
    for (const file of [...(input.files ?? [])]) {
      const way = (file.webkitRelativePath || file.name).split("/");
      if (!way.some((part) => part.startsWith("."))) take(file, named(way));
    }
    input.value = "";
  });
}
for (const kind of ["dragenter", "dragover"]) {
  document.addEventListener(kind, (event) => {
    event.preventDefault();
    form.classList.add("over");
  });
}
document.addEventListener("dragleave", (event) => {
  if (!event.relatedTarget) form.classList.remove("over");
});
document.addEventListener("drop", async (event) => {
  event.preventDefault();
  form.classList.remove("over");
  const items = [...(event.dataTransfer?.items ?? [])];
  // Asked for before anything is waited for: afterwards the browser has forgotten them.
  const entries = items.map((item) => item.webkitGetAsEntry?.()).filter(Boolean);
  const plain = entries.length ? [] : [...(event.dataTransfer?.files ?? [])];
  for (const file of plain) take(file, file.name);
  try {
    for (const entry of entries) for await (const { file, name } of below(entry, [])) take(file, name);
  } catch {
    alertOf("A folder could not be read.", "Choose its files instead.");
  }
});

// A form that only steers a job: what it does is seen in the job's news.
document.addEventListener("submit", async (event) => {
  const steering = /** @type {HTMLFormElement} */ (event.target);
  if (!steering.matches("[data-quiet]")) return;
  event.preventDefault();
  const answer = await fetch(steering.action, { method: "POST", redirect: "manual" }).catch(() => null);
  if (!answer || answer.status >= 400) alertOf("That did not work.", "Load the page again.");
});

const news = new EventSource("/add/events");
news.addEventListener("job", (event) => {
  const { id, html } = JSON.parse(event.data);
  const made = document.createElement("template");
  made.innerHTML = html;
  const row = /** @type {HTMLElement} */ (made.content.firstElementChild);
  const old = document.getElementById(`job-${id}`);
  const held = old?.contains(document.activeElement) ? document.activeElement?.id : "";
  if (old) old.replaceWith(row);
  else jobs.prepend(row);
  if (held) (document.getElementById(held) ?? row.querySelector("button"))?.focus();
  if (old && old.dataset.state !== row.dataset.state && /done|failed/.test(row.dataset.state ?? "")) {
    say(`${row.querySelector(".what")?.textContent}: ${row.dataset.state}`);
  }
});
addEventListener("pagehide", () => news.close());
