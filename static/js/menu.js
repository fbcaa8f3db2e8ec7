// The navigation as a menu on narrow windows.
export function startMenu() {
  const button = document.querySelector("[data-menu]");
  const nav = document.getElementById("sidenav");
  if (!button) return;
  if (!nav) {
    button.hidden = true;
    return;
  }
  const set = (open) => {
    button.setAttribute("aria-expanded", String(open));
    nav.toggleAttribute("data-open", open);
  };
  button.addEventListener("click", () => set(!nav.hasAttribute("data-open")));
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && nav.hasAttribute("data-open")) {
      set(false);
      button.focus();
    }
  });
}
