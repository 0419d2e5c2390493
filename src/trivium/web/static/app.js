/**
 * Shared by every page: fetches and swaps parts, announces changes, handles keys.
 * A request with the header X-Part gets only those blocks of a page; each block's element replaces
 * the one with the same id.
 */

/** @type {Map<string, AbortController>} the newest request of each kind; it cancels an older one */
const underway = new Map();

/**
 * Replace elements with the same id. Focus stays where it was, if that element still exists, and
 * open details stay open.
 * @param {string} html
 */
export function swap(html) {
  const made = document.createElement("template");
  made.innerHTML = html;
  const held = document.activeElement?.id;
  for (const element of [...made.content.children]) {
    const old = element.id && document.getElementById(element.id);
    if (!old) continue;
    for (const open of old.querySelectorAll("details[open][id]")) element.querySelector(`#${CSS.escape(open.id)}`)?.setAttribute("open", "");
    old.replaceWith(element);
  }
  if (held && document.activeElement === document.body) document.getElementById(held)?.focus();
}

/**
 * Fetch parts of an address and swap them in. A newer call of the same kind cancels an older one.
 * @param {string} address
 * @param {string} parts names of blocks, separated by spaces
 * @param {{kind?: string, method?: string, body?: BodyInit}} [how]
 * @returns {Promise<Response | null | false>} null: cancelled; false: the server didn't answer
 */
export async function load(address, parts, how = {}) {
  const kind = how.kind ?? parts;
  underway.get(kind)?.abort();
  const controller = new AbortController();
  underway.set(kind, controller);
  document.documentElement.setAttribute("data-busy", "");
  try {
    const answer = await fetch(address, {
      method: how.method ?? "GET",
      body: how.body,
      headers: { "X-Part": parts },
      signal: controller.signal,
    });
    if (answer.status === 401) {
      location.assign(`/login?next=${encodeURIComponent(location.pathname + location.search)}`);
      return null;
    }
    const html = await answer.text();
    if (controller.signal.aborted) return null;
    if (answer.ok) clearAlert();
    if (answer.headers.get("content-type")?.startsWith("text/html")) swap(html);
    else complain(html);
    return answer;
  } catch (error) {
    if (controller.signal.aborted) return null;
    alertOf("The server doesn't answer.", "Check that it is running, then try again.");
    return false;
  } finally {
    if (underway.get(kind) === controller) underway.delete(kind);
    if (!underway.size) document.documentElement.removeAttribute("data-busy");
  }
}

/** Show the error of a problem document: the guard answers before any page could. @param {string} json */
function complain(json) {
  try {
    const told = JSON.parse(json);
    alertOf(told.detail, told.fix);
  } catch {
    alertOf("The server sent an invalid answer.", "Reload the page.");
  }
}

/** Cancel the current request of this kind. @param {string} kind */
export function cancel(kind) {
  underway.get(kind)?.abort();
  underway.delete(kind);
}

/** Announce to screen readers. @param {string} text */
export function say(text) {
  const place = document.getElementById("said");
  if (place && place.textContent !== text) place.textContent = text;
}

/** @param {string} what @param {string} then what to do about it */
export function alertOf(what, then = "") {
  const place = document.getElementById("alert");
  if (!place) return;
  const line = document.createElement("p");
  const strong = document.createElement("strong");
  strong.textContent = what;
  line.append(strong, ` ${then}`);
  place.className = "alert bad";
  place.replaceChildren(line);
}

export function clearAlert() {
  const place = document.getElementById("alert");
  if (!place?.firstChild) return;
  place.className = "";
  place.replaceChildren();
}

/** Whether a key pressed here is meant as text. @param {EventTarget | null} target */
export function typing(target) {
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable ||
      target instanceof HTMLTextAreaElement ||
      target instanceof HTMLSelectElement ||
      (target instanceof HTMLInputElement && !/^(checkbox|radio|range|button|submit)$/.test(target.type)))
  );
}

document.documentElement.classList.add("has-script");

// A list of hits scrolls by itself: show the one that the page is at.
for (const hit of document.querySelectorAll(".hits [aria-current]")) {
  const list = /** @type {HTMLElement} */ (hit.closest(".hits"));
  const away = hit.getBoundingClientRect().top - list.getBoundingClientRect().top;
  if (away + hit.clientHeight > list.clientHeight) list.scrollTop = away;
}

document.addEventListener("keydown", (event) => {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
  const box = /** @type {HTMLInputElement | null} */ (document.querySelector('[data-key="/"]'));
  if (event.key === "Escape" && event.target === box) box?.blur();
  // The box has the focus already: the key that leads here types nothing.
  if (event.key === "/" && event.target === box && !box?.value) event.preventDefault();
  if (typing(event.target)) return;
  const meant = /** @type {HTMLElement | null} */ (
    document.querySelector(`[data-key="${CSS.escape(event.key)}"]`)
  );
  if (meant instanceof HTMLInputElement) {
    event.preventDefault();
    meant.focus();
    meant.select();
  } else if (meant) {
    meant.click();
  } else if (event.key === "?") {
    const help = /** @type {HTMLDialogElement | null} */ (document.getElementById("keys"));
    if (help && !help.open) help.showModal();
  }
});

document.addEventListener("click", (event) => {
  const target = event.target instanceof Element ? event.target : null;
  const opener = target?.closest("[data-opens]");
  if (opener) {
    const dialog = document.getElementById(opener.getAttribute("data-opens") ?? "");
    if (dialog instanceof HTMLDialogElement && !dialog.open) dialog.showModal();
  }
  const part = target?.closest("a[data-part]");
  if (part) {
    event.preventDefault();
    load(part.getAttribute("href") ?? "", part.getAttribute("data-part") ?? "");
  }
  // A click outside a dialog closes it, as people expect.
  if (target instanceof HTMLDialogElement && target.classList.contains("dialog")) target.close();
});

document.addEventListener("submit", (event) => {
  const form = /** @type {HTMLFormElement} */ (event.target);
  if (!form.matches("[data-theme-switch]")) return;
  event.preventDefault();
  const root = document.documentElement;
  const dark = matchMedia("(prefers-color-scheme: dark)").matches;
  const now = root.dataset.theme || (dark ? "dark" : "light");
  root.dataset.theme = now === "dark" ? "light" : "dark";
  document.cookie = `trivium_theme=${root.dataset.theme}; path=/; max-age=31536000; SameSite=Strict`;
});
