// What every page starts with. Each module stands for itself.
import { startHow } from "./how.js";
import { startKeyboard } from "./keyboard.js";
import { startMenu } from "./menu.js";
import { startTheme } from "./theme.js";

startTheme();
startMenu();
startKeyboard();
startHow();

for (const element of document.querySelectorAll("[data-needs-script]")) element.hidden = false;
