// Single keys: / search, g and a letter to go, j and k along rows, ? the list. Off in fields, and off when switched off.
const KEY = "spinecut.keys";

function keysAreOn() {
  try {
    return localStorage.getItem(KEY) !== "off";
  } catch {
    return true;
  }
}

function inField(target) {
  return target instanceof Element && target.closest("input, textarea, select, [contenteditable]") !== null;
}

function rows() {
  return [...document.querySelectorAll("main tbody tr:not(.group)")].filter((row) => row.offsetParent !== null);
}

function moveRow(step) {
  const all = rows();
  if (!all.length) return;
  const now = all.findIndex((row) => row.hasAttribute("data-row-focus"));
  const next = Math.min(all.length - 1, Math.max(0, now + step));
  if (now >= 0) all[now].removeAttribute("data-row-focus");
  const row = all[now < 0 ? 0 : next];
  row.setAttribute("data-row-focus", "");
  const target = row.querySelector("a, button") || row;
  if (target === row) row.tabIndex = -1;
  target.focus({ preventScroll: true });
  row.scrollIntoView({ block: "nearest" });
}

function openDialog(id) {
  const dialog = document.getElementById(id);
  if (dialog && !dialog.open) dialog.showModal();
}

function startSwitch() {
  const box = document.querySelector("[data-keys-switch]");
  if (!box) return;
  box.checked = keysAreOn();
  box.addEventListener("change", () => {
    try {
      if (box.checked) localStorage.removeItem(KEY);
      else localStorage.setItem(KEY, "off");
    } catch {
      // without storage the keys stay on
    }
  });
}

export function startKeyboard() {
  let goUntil = 0;
  startSwitch();
  document.addEventListener("click", (event) => {
    const opener = event.target.closest("[data-open-dialog]");
    if (opener) openDialog(opener.dataset.openDialog);
  });
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || inField(event.target) || !keysAreOn()) return;
    if (document.querySelector("dialog[open]")) return;
    if (performance.now() < goUntil) {
      goUntil = 0;
      const link = document.querySelector(`[data-go="${CSS.escape(event.key)}"]`);
      if (link) {
        event.preventDefault();
        link.click();
      }
      return;
    }
    if (event.key === "g") goUntil = performance.now() + 1500;
    else if (event.key === "j") moveRow(1);
    else if (event.key === "k") moveRow(-1);
    else if (event.key === "?") openDialog("keyboard-help");
    else if (event.key === "/") {
      const search = document.getElementById("search");
      if (search) {
        event.preventDefault();
        search.focus();
      }
    }
  });
}
