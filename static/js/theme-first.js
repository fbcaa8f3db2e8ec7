// Before the first paint: the reader's theme and the sign that scripts run.
(function () {
  const root = document.documentElement;
  root.classList.add("js");
  let stored = null;
  try {
    stored = localStorage.getItem("spinecut.theme");
  } catch {
    // storage may be off; the system's theme then holds
  }
  if (stored === "light" || stored === "dark") root.dataset.theme = stored;
})();
