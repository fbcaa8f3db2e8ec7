// Draws the charts of a page from their JSON blocks. All numbers come from the server; this file places marks.
import { cumulative } from "./chart-cumulative.js";
import { download } from "./download.js";

const KINDS = { cumulative };
const NARROW = 600;
const CONFIG = { displayModeBar: false, staticPlot: true, responsive: false };

function tokens(root) {
  const style = getComputedStyle(root);
  const read = (name) => style.getPropertyValue(name).trim();
  const option = (slot) => ({ fill: read(`--option-${slot}-fill`), edge: read(`--option-${slot}-edge`) });
  return {
    font: read("--font"),
    ink: read("--ink"),
    ink2: read("--ink-2"),
    ink3: read("--ink-3"),
    surface: read("--surface"),
    grid: read("--grid"),
    axis: read("--line-2"),
    option,
  };
}

function figureOf(place, width, root) {
  const data = JSON.parse(document.getElementById(place.dataset.plotly).textContent);
  return KINDS[data.kind](data, tokens(root), width, width < NARROW);
}

function draw(place) {
  const width = place.clientWidth;
  if (!width || !window.Plotly) return;
  const figure = figureOf(place, width, document.documentElement);
  place.querySelector(".no-script")?.remove();
  window.Plotly.react(place, figure.data, { ...figure.layout, width, height: place.clientHeight }, CONFIG);
}

function drawAll() {
  for (const place of document.querySelectorAll("[data-plotly]")) draw(place);
}

// Files are light whatever the screen shows.
async function saveSvg(button) {
  const place = document.querySelector(`[data-plotly="${CSS.escape(button.dataset.svg)}"]`);
  const light = document.createElement("div");
  light.dataset.theme = "light";
  document.body.append(light);
  const size = { width: 900, height: 460 };
  const figure = figureOf(place, size.width, light);
  light.remove();
  const layout = { ...figure.layout, ...size, paper_bgcolor: "#ffffff" };
  const url = await window.Plotly.toImage({ data: figure.data, layout, config: CONFIG }, { format: "svg", ...size });
  download(`${button.dataset.name}.svg`, url);
}

let waiting = 0;
function later() {
  cancelAnimationFrame(waiting);
  waiting = requestAnimationFrame(drawAll);
}

document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-svg]");
  if (button) saveSvg(button);
});
document.addEventListener("themechange", later);
document.addEventListener("htmx:afterSettle", later);
new ResizeObserver(later).observe(document.getElementById("main"));
drawAll();
