/**
 * Sends files that you drop on any page, or choose on Add, the smallest first; a panel shows the progress of
 * all of them. On Add the panel is part of the page, elsewhere it sits in a corner while files are added.
 */
import { alertOf, say } from "./app.js";

const AT_ONCE = 2; // uploads: the server keeps one while the next is sent
const FLAG = "trivium-adding"; // of this tab: files are being added, whichever page it shows
const tray = document.getElementById("tray");
const section = /** @type {HTMLElement} */ (document.getElementById("sending"));
const together = /** @type {HTMLElement} */ (document.getElementById("together"));
const bar = /** @type {HTMLProgressElement} */ (document.getElementById("sent-share"));
const unsent = /** @type {HTMLElement} */ (document.getElementById("unsent"));
const form = /** @type {HTMLFormElement | null} */ (document.getElementById("upload"));
const jobs = document.getElementById("jobs");
const most = Number(document.body.dataset.most);

/** @typedef {{file: File, name: string, sent: number, ended: boolean}} Upload */
/** @type {Upload[]} every file of this round, which ends when all are sent */
let uploads = [];
/** @type {Upload[]} */
const waiting = [];
let underway = 0;
let begun = 0;

/** @param {number} bytes */
const size = (bytes) =>
  bytes < 1e6 ? `${Math.ceil(bytes / 1e3)} kB` : `${(bytes / 1e6).toFixed(1)} MB`;

/** @param {File} file @param {string} name */
function take(file, name) {
  const upload = { file, name, sent: 0, ended: false };
  uploads.push(upload);
  if (file.size > most) fail(upload, `The file is larger than ${size(most)}, the limit.`);
  else if (!file.size) fail(upload, "The file is empty.");
  else waiting.push(upload);
}

/** Show a file that couldn't be sent, why, and a Retry button. @param {Upload} upload @param {string} why */
function fail(upload, why) {
  upload.ended = true;
  const made = /** @type {HTMLTemplateElement} */ (document.getElementById("unsent-file"));
  const row = /** @type {HTMLElement} */ (made.content.firstElementChild?.cloneNode(true));
  /** @type {HTMLElement} */ (row.querySelector(".what")).textContent = upload.name;
  /** @type {HTMLElement} */ (row.querySelector(".why")).textContent = why;
  row.querySelector(".again")?.addEventListener("click", () => {
    row.remove();
    if (!uploads.includes(upload)) uploads.push(upload);
    upload.sent = 0;
    upload.ended = false;
    waiting.push(upload);
    next();
  });
  row.querySelector(".dismiss")?.addEventListener("click", () => {
    row.remove();
    tell();
  });
  unsent.append(row);
  say(`${upload.name} failed: ${why}`);
  tell();
}

function next() {
  if (!underway) begun = performance.now();
  waiting.sort((one, other) => one.file.size - other.file.size); // many can be searched soon
  while (underway < AT_ONCE && waiting.length) send(/** @type {Upload} */ (waiting.shift()));
  tell();
}

/** Show the progress of the uploads. */
function tell() {
  const open = uploads.filter((one) => !one.ended);
  const all = uploads.reduce((sum, one) => sum + one.file.size, 0);
  const sent = uploads.reduce((sum, one) => sum + (one.ended ? one.file.size : one.sent), 0);
  const seconds = (performance.now() - begun) / 1000;
  const left = sent > 0 && seconds > 2 ? (seconds * (all - sent)) / sent : 0;
  const time = left < 2 ? "" : left < 60 ? ` · about ${Math.round(left)} s left` : ` · about ${Math.round(left / 60)} min left`;
  together.textContent = open.length
    ? `Uploading ${uploads.length - open.length + 1} of ${uploads.length} · ${size(sent)} of ${size(all)}${time}`
    : `${unsent.children.length} not uploaded`;
  bar.hidden = !open.length;
  bar.value = all ? sent / all : 0;
  section.hidden = !open.length && !unsent.children.length;
  if (!open.length) uploads = [];
  if (tray && !section.hidden) tray.hidden = false;
}

/** @param {Upload} upload */
function send(upload) {
  underway += 1;
  const data = form ? new FormData(form) : new FormData();
  for (const [name, value] of [...data]) if (name === "file" || !value) data.delete(name);
  data.set("file", upload.file, upload.name);
  const request = new XMLHttpRequest(); // fetch does not say how much was sent
  request.upload.addEventListener("progress", (event) => {
    upload.sent = Math.min(event.loaded, upload.file.size);
    tell();
  });
  request.addEventListener("loadend", () => {
    underway -= 1;
    ended(upload, request);
    next();
  });
  request.open("POST", "/v1/documents?wait=false");
  request.setRequestHeader("X-Part", "alert"); // errors are worded for a person
  request.send(data);
}

/** @param {Upload} upload @param {XMLHttpRequest} request */
function ended(upload, request) {
  if (!request.status) return fail(upload, "The server doesn't answer.");
  let told;
  try {
    told = JSON.parse(request.responseText);
  } catch {
    return fail(upload, "The server sent an invalid answer.");
  }
  if (request.status !== 202) return fail(upload, `${told.detail ?? "Something went wrong."} ${told.fix ?? ""}`.trim());
  upload.ended = true;
  follow();
}

/** The files below a dropped entry, with their folders before the name. @param {any} entry @param {string[]} way */
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

form?.addEventListener("submit", (event) => event.preventDefault());
document.addEventListener("change", (event) => {
  const input = /** @type {HTMLInputElement} */ (event.target);
  if (!input.matches('input[type="file"]')) return;
  for (const file of [...(input.files ?? [])]) {
    const way = (file.webkitRelativePath || file.name).split("/");
    if (!way.some((part) => part.startsWith("."))) take(file, named(way));
  }
  next();
  input.value = "";
});

/** Whether the dragged thing can be added: text dragged into a field stays text. @param {DragEvent} event */
const holdsFiles = (event) => event.dataTransfer?.types.includes("Files");
for (const kind of ["dragenter", "dragover"]) {
  document.addEventListener(kind, (event) => {
    if (!holdsFiles(/** @type {DragEvent} */ (event))) return;
    event.preventDefault();
    document.documentElement.classList.add("dropping");
  });
}
document.addEventListener("dragleave", (event) => {
  if (!event.relatedTarget) document.documentElement.classList.remove("dropping");
});
document.addEventListener("drop", async (event) => {
  document.documentElement.classList.remove("dropping");
  if (!holdsFiles(event)) return;
  event.preventDefault();
  const items = [...(event.dataTransfer?.items ?? [])];
  // Read these before the first await: afterwards the browser has cleared them.
  const entries = items.map((item) => item.webkitGetAsEntry?.()).filter(Boolean);
  const plain = entries.length ? [] : [...(event.dataTransfer?.files ?? [])];
  for (const file of plain) take(file, file.name);
  try {
    for (const entry of entries) for await (const { file, name } of below(entry, [])) take(file, name);
  } catch {
    alertOf("Couldn't read a folder.", "Choose its files instead.");
  }
  next();
});

// A form that only controls jobs: the panel shows what it does.
document.addEventListener("submit", async (event) => {
  const steering = /** @type {HTMLFormElement} */ (event.target);
  if (steering.matches("[data-adds]")) sessionStorage.setItem(FLAG, "1");
  if (!steering.matches("[data-quiet]")) return;
  event.preventDefault();
  const body = new FormData(steering);
  const answer = await fetch(steering.action, { method: "POST", body, redirect: "manual" }).catch(() => null);
  if (!answer || answer.status >= 400) alertOf("Something went wrong.", "Reload the page.");
  else follow();
});
document.getElementById("tray-close")?.addEventListener("click", () => {
  if (tray) tray.hidden = true;
});

/** Replace the element with the same id; keeps focus and open details. @param {string} html */
function place(html) {
  const made = document.createElement("template");
  made.innerHTML = html.trim();
  const row = /** @type {HTMLElement} */ (made.content.firstElementChild);
  const old = document.getElementById(row.id);
  const held = old?.contains(document.activeElement) ? document.activeElement?.id : "";
  for (const open of old?.querySelectorAll("details[open][id]") ?? []) row.querySelector(`#${open.id}`)?.setAttribute("open", "");
  if (old) old.replaceWith(row);
  if (held) (document.getElementById(held) ?? row.querySelector("button, a"))?.focus();
  return { row, old };
}

/** @type {EventSource | null} */
let news = null;
let ran = false;

/** Follow the jobs. */
function follow() {
  sessionStorage.setItem(FLAG, "1");
  if (news) return;
  news = new EventSource("/add/events");
  news.addEventListener("panel", (event) => panel(JSON.parse(event.data)));
  news.addEventListener("job", (event) => {
    if (!jobs) return;
    const { html } = JSON.parse(event.data);
    const { row, old } = place(html);
    if (!old) jobs.prepend(row);
  });
}

/** @param {{html: string, running: boolean}} told */
function panel(told) {
  const { row } = place(told.html);
  if (tray && (told.running || ran)) tray.hidden = false;
  const line = row.querySelector("strong")?.textContent ?? "";
  if (told.running) ran = true;
  else if (ran) {
    ran = false;
    say(line);
    document.dispatchEvent(new CustomEvent("library-changed"));
  }
  if (told.running || !tray) return;
  // Nothing is running: a page that only watched for that closes the connection.
  sessionStorage.removeItem(FLAG);
  if (waiting.length || underway) return;
  news?.close();
  news = null;
}

if (!tray || sessionStorage.getItem(FLAG)) follow();
addEventListener("pagehide", () => news?.close());
