// Keeps the first page up to date. The pages also work without JavaScript: reload them.
"use strict";
(() => {
  const main = document.querySelector("main[data-live]");
  if (!main || !window.EventSource) return;

  // A section that has the focus or a selection is not replaced until the user leaves it.
  const waiting = new Map();
  const isBusy = (section) => section.contains(document.activeElement) && document.activeElement !== section;

  const put = (id, html) => {
    const present = document.getElementById(id);
    if (!present || !main.contains(present)) return;
    if (isBusy(present) || (getSelection()?.type === "Range" && getSelection().containsNode(present, true))) {
      waiting.set(id, html);
      return;
    }
    waiting.delete(id);
    const parsed = new DOMParser().parseFromString(html, "text/html").getElementById(id);
    if (!parsed) return;
    for (const open of present.querySelectorAll("details[open][id]")) {
      const same = parsed.querySelector("#" + CSS.escape(open.id));
      if (same) same.open = true;
    }
    const places = new Map();
    present.querySelectorAll(".scroll").forEach((box) => places.set(box.getAttribute("aria-label"), box.scrollLeft));
    present.replaceWith(parsed);
    parsed.querySelectorAll(".scroll").forEach((box) => {
      box.scrollLeft = places.get(box.getAttribute("aria-label")) ?? 0;
    });
  };

  main.addEventListener("focusout", () => setTimeout(() => waiting.forEach((html, id) => put(id, html)), 0));

  let source;
  const listen = () => {
    source = new EventSource(main.dataset.live);
    source.addEventListener("section", (event) => {
      const { id, html } = JSON.parse(event.data);
      put(id, html);
    });
    source.onopen = () => main.removeAttribute("data-stale");
    source.onerror = () => main.setAttribute("data-stale", "");
  };
  // A hidden page receives no updates.
  document.addEventListener("visibilitychange", () => {
    if (document.hidden) source.close();
    else listen();
  });
  if (!document.hidden) listen();
})();
