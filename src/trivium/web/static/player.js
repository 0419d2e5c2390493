/** The page of a recording: plays from the passage, marks the words as they are spoken. */

/** Make the player on the page work, if there is one. */
export function attach() {
  if (!document.getElementById("media")) return;
  const media = /** @type {HTMLMediaElement} */ (document.getElementById("media"));
  const note = /** @type {HTMLElement} */ (document.getElementById("player-note"));
  const start = Number(media.dataset.start);
  /** @type {number | null} where the cited sentence ends */
  let end = media.dataset.end ? Number(media.dataset.end) : null;
  /** @type {[number, number][]} letters before each word, and its second */
  const spoken = JSON.parse(media.dataset.spoken || "[]");

  /** Where each letter is that isn't blank. */
  function letters() {
    /** @type {[Text, number][]} */
    const found = [];
    for (const part of document.querySelectorAll("#reading .passage, #reading .around-text")) {
      const texts = document.createTreeWalker(part, NodeFilter.SHOW_TEXT);
      while (texts.nextNode()) {
        const text = /** @type {Text} */ (texts.currentNode);
        for (let at = 0; at < text.data.length; at++) if (/\S/.test(text.data[at])) found.push([text, at]);
      }
    }
    return found;
  }

  const places = letters();
  let marked = -1;

  /** Mark the word that is spoken now. */
  function mark() {
    const now = media.currentTime + 0.05;
    const next = spoken.findIndex(([, second]) => second > now);
    const at = (next < 0 ? spoken.length : next) - 1;
    if (at === marked || !("highlights" in CSS)) return;
    marked = at;
    CSS.highlights.delete("spoken");
    if (at < 0) return;
    const first = places[spoken[at][0]];
    const last = places[(spoken[at + 1]?.[0] ?? places.length) - 1];
    if (!first || !last) return;
    const range = new Range();
    range.setStart(...first);
    range.setEnd(last[0], last[1] + 1);
    CSS.highlights.set("spoken", new Highlight(range));
  }

  function begin() {
    media.currentTime = start;
    media.play().then(
      () => { note.textContent = ""; },
      () => { note.textContent = "Press play to listen."; },
    );
  }

  function tick() {
    mark();
    if (end !== null && media.currentTime >= end) {
      end = null; // once: whoever presses play again hears more
      media.pause();
    }
    if (!media.paused) requestAnimationFrame(tick);
  }

  media.addEventListener("play", tick);
  media.addEventListener("seeked", mark);
  media.addEventListener("timeupdate", tick);
  media.addEventListener("error", () => { note.textContent = "This browser can't play the file. Download the original to listen."; });
  document.getElementById("speed")?.addEventListener("change", (event) => {
    media.playbackRate = Number(/** @type {HTMLSelectElement} */ (event.target).value);
  });
  document.getElementById("again")?.addEventListener("click", begin);
  if (media.dataset.plays !== undefined) {
    if (media.readyState >= 1) begin();
    else media.addEventListener("loadedmetadata", begin, { once: true });
  }
}

attach();
