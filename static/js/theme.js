// The switch between the system's theme, light and dark; the choice is kept on this device.
const KEY = "spinecut.theme";

function chosen() {
  return document.documentElement.dataset.theme || "system";
}

function show(group) {
  for (const button of group.querySelectorAll("[data-theme-choice]")) {
    button.setAttribute("aria-pressed", String(button.dataset.themeChoice === chosen()));
  }
}

function choose(theme) {
  if (theme === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
  try {
    if (theme === "system") localStorage.removeItem(KEY);
    else localStorage.setItem(KEY, theme);
  } catch {
    // without storage the choice holds for this page
  }
  document.dispatchEvent(new CustomEvent("themechange"));
}

export function startTheme() {
  const group = document.querySelector("[data-theme-switch]");
  if (group) {
    group.hidden = false;
    show(group);
    group.addEventListener("click", (event) => {
      const button = event.target.closest("[data-theme-choice]");
      if (!button) return;
      choose(button.dataset.themeChoice);
      show(group);
    });
  }
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
    document.dispatchEvent(new CustomEvent("themechange"));
  });
}
