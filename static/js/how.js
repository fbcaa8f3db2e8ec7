// The panel that explains a figure: opens by htmx, closes by Escape, gives the focus back. Copies a link to it.
let opener = null;

function slot() {
  return document.getElementById("how-panel");
}

function close() {
  const panel = slot();
  if (!panel || !panel.querySelector(".how-close")) return false;
  const closing = panel.querySelector(".how-close");
  const id = panel.dataset.figure;
  history.replaceState(history.state, "", closing.href);
  panel.replaceChildren();
  panel.removeAttribute("data-figure");
  for (const row of document.querySelectorAll("tr[data-selected]")) row.removeAttribute("data-selected");
  for (const link of document.querySelectorAll('a.how[aria-expanded="true"]')) link.setAttribute("aria-expanded", "false");
  const back = opener && opener.isConnected ? opener : id && document.querySelector(`a.how[data-figure="${CSS.escape(id)}"]`);
  if (back) back.focus();
  opener = null;
  return true;
}

function opened(panel) {
  panel.setAttribute("data-opening", "");
  panel.addEventListener("animationend", () => panel.removeAttribute("data-opening"), { once: true });
  const id = panel.querySelector("[data-explains]")?.dataset.explains;
  if (id) panel.dataset.figure = id;
  for (const row of document.querySelectorAll("tr[data-selected]")) row.removeAttribute("data-selected");
  for (const link of document.querySelectorAll("a.how")) {
    const here = link.dataset.figure === id;
    link.setAttribute("aria-expanded", String(here));
    if (here) link.closest("tr")?.setAttribute("data-selected", "");
  }
  const title = panel.querySelector("h2");
  if (title) {
    title.tabIndex = -1;
    title.focus({ preventScroll: matchMedia("(min-width: 1100px)").matches });
  }
  panel.scrollIntoView({ block: "nearest" });
}

export function startHow() {
  document.addEventListener("click", (event) => {
    const link = event.target.closest("a.how");
    if (link) opener = link;
    const closing = event.target.closest(".how-close");
    if (closing && close()) event.preventDefault();
    const copy = event.target.closest("[data-copy-link]");
    if (copy && navigator.clipboard) {
      event.preventDefault();
      navigator.clipboard.writeText(copy.href).then(() => {
        const live = document.getElementById("live");
        if (live) live.textContent = copy.dataset.copied;
        copy.textContent = copy.dataset.copied;
      });
    }
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && !document.querySelector("dialog[open]")) close();
  });
  document.addEventListener("htmx:afterSwap", (event) => {
    if (event.detail.target?.id === "how-panel") opened(event.detail.target);
  });
  // A view that was switched keeps the reader where the switch was.
  document.addEventListener("htmx:beforeRequest", (event) => {
    if (event.detail.target?.id === "screen") document.body.setAttribute("aria-busy", "true");
  });
  document.addEventListener("htmx:afterSettle", () => document.body.removeAttribute("aria-busy"));
}
