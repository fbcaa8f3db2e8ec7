// Cumulative cost of one option by group, against a rival: places marks for the numbers the server gives.
const SYMBOL = { 0: "x-thin", 1: "circle", 2: "square", 3: "diamond", 4: "triangle-up", 5: "pentagon", 6: "circle-open" };
const DASH = { 0: "2px,2px", 1: "solid", 2: "8px,4px", 3: "8px,3px,2px,3px", 4: "1.5px,3.5px", 5: "5px,2px", 6: "3px,3px" };
const STACK_OPACITY = [0.26, 0.17, 0.12, 0.09, 0.07];
const LABEL_GAP_PX = 17;

function alpha(colour, opacity) {
  const value = parseInt(colour.slice(1), 16);
  return `rgba(${value >> 16}, ${(value >> 8) & 255}, ${value & 255}, ${opacity})`;
}

function line(x, y, options) {
  return { type: "scatter", mode: "lines", x, y, hoverinfo: "skip", showlegend: false, ...options };
}

function between(x, low, high, colour) {
  const edge = { width: 0 };
  return [
    line(x, low, { line: edge }),
    line(x, high, { line: edge, fill: "tonexty", fillcolor: colour }),
  ];
}

function marks(data, months, values, slot, colours, size) {
  const at = months.map((month) => data.months.indexOf(month)).filter((index) => index >= 0);
  return {
    type: "scatter",
    mode: "markers",
    x: at.map((index) => data.months[index]),
    y: at.map((index) => values[index]),
    marker: { symbol: SYMBOL[slot], size, color: colours.fill, line: { color: colours.edge, width: slot === 0 ? 2 : 1 } },
    hoverinfo: "skip",
    showlegend: false,
    cliponaxis: false,
  };
}

function every(data, start, step) {
  return data.months.filter((month) => month >= start && (month - start) % step === 0);
}

function traces(data, theme) {
  const own = theme.option(data.option.slot);
  const out = [];
  data.bands.forEach((band, index) => {
    const opacity = STACK_OPACITY[Math.min(index, STACK_OPACITY.length - 1)];
    out.push(...between(data.months, band.low, band.high, alpha(own.fill, opacity)));
  });
  if (data.rival) {
    const other = theme.option(data.rival.slot);
    out.push(...between(data.months, data.rival.p10, data.rival.p90, alpha(other.fill, 0.26)));
  }
  const thin = { color: own.edge, width: 1.2, dash: "1.5px,3px" };
  out.push(line(data.months, data.paid_p10, { line: thin }), line(data.months, data.paid_p90, { line: thin }));
  if (data.net) out.push(line(data.months, data.net, { line: { color: own.edge, width: 1.6, dash: "7px,4px" } }));
  out.push(line(data.months, data.paid, { line: { color: own.edge, width: 2.2 } }));
  if (data.rival) {
    const other = theme.option(data.rival.slot);
    const dash = data.rival.slot === data.option.slot ? "4px,4px" : DASH[data.rival.slot];
    out.push(line(data.months, data.rival.paid, { line: { color: other.edge, width: 2.2, dash } }));
    out.push(marks(data, every(data, 6, 9), data.rival.paid, data.rival.slot, other, 10));
  }
  out.push(marks(data, every(data, 0, 12).slice(0, -1), data.paid, data.option.slot, own, 9));
  out.push(...endTraces(data, theme), ...breakEvenTraces(data, theme));
  return out;
}

function endTraces(data, theme) {
  return data.ends.flatMap((end, index) => {
    const colours = theme.option(end.slot);
    const at = { xaxis: "x2", yaxis: "y2", hoverinfo: "skip", showlegend: false, cliponaxis: false };
    return [
      { type: "bar", x: [index], y: [end.p90 - end.p10], base: [end.p10], width: 0.3, marker: { color: alpha(colours.fill, 0.42) }, ...at },
      { type: "scatter", mode: "lines", x: [index - 0.24, index + 0.24], y: [end.p50, end.p50], line: { color: colours.edge, width: 2 }, ...at },
      { type: "scatter", mode: "markers", x: [index], y: [end.likely], marker: { symbol: SYMBOL[end.slot], size: 10, color: colours.fill, line: { color: colours.edge, width: 1 } }, ...at },
    ];
  });
}

function breakEvenTraces(data, theme) {
  const found = data.break_even;
  if (!found) return [];
  const out = [];
  if (found.p10 !== null && found.p90 !== null) {
    out.push(line([found.p10, found.p90], [data.y_max * 0.018, data.y_max * 0.018], { line: { color: alpha(theme.ink3, 0.75), width: 4 } }));
  }
  out.push({
    type: "scatter",
    mode: "markers",
    x: [found.month],
    y: [found.value],
    marker: { symbol: "circle", size: 12, color: theme.surface, line: { color: theme.ink, width: 2 } },
    hoverinfo: "skip",
    showlegend: false,
    cliponaxis: false,
  });
  return out;
}

function text(theme, options) {
  return { showarrow: false, align: "left", font: { family: theme.font, size: 12, color: theme.ink }, ...options };
}

// Labels at the end of the stack, pushed apart so that none covers another.
function spread(bands, pxPerUnit) {
  const wanted = bands.map((band) => ((band.low.at(-1) + band.high.at(-1)) / 2) * pxPerUnit);
  const placed = [...wanted];
  for (let i = 1; i < placed.length; i += 1) placed[i] = Math.max(placed[i], placed[i - 1] + LABEL_GAP_PX);
  return placed.map((px) => px / pxPerUnit);
}

function stackLabels(data, theme, narrow, plotHeight, end) {
  const places = spread(data.bands, plotHeight / data.y_max);
  return data.bands.flatMap((band, index) => [
    text(theme, { xref: "paper", x: end, xshift: 16, xanchor: "left", y: places[index], text: narrow ? band.short : band.label }),
    text(theme, { xref: "paper", x: end, xshift: narrow ? 98 : 120, xanchor: "right", y: places[index], text: band.total }),
  ]);
}

function brackets(data, theme, end) {
  return data.bands.map((band) => ({
    type: "path",
    xref: "paper",
    yref: "y",
    path: bracketPath(band.low.at(-1), band.high.at(-1), end),
    line: { color: theme.ink3, width: 1 },
  }));
}

function bracketPath(low, high, end) {
  return `M ${end + 0.006} ${low} L ${end + 0.013} ${low} L ${end + 0.013} ${high} L ${end + 0.006} ${high}`;
}

function nearest(values, wanted) {
  return values.reduce((best, value, index) => (Math.abs(value - wanted) < Math.abs(values[best] - wanted) ? index : best), 0);
}

const CHARACTER_PX = 6.6;

function lineLabels(data, theme, narrow, pxPerMonth) {
  const strong = { family: theme.font, size: 12, color: theme.ink, weight: 600 };
  const covered = Math.min(data.paid.length - 1, 1 + Math.ceil((data.paid_label.length * CHARACTER_PX) / pxPerMonth));
  const high = data.y_max * 0.25;
  const rivalFlat = data.rival && data.rival.paid[0] > high;
  const below = rivalFlat && data.rival.paid[0] > data.paid[0] && data.paid[0] > high;
  const own = below ? { y: data.paid_p10[0], yshift: -12 } : { y: data.paid_p90[covered], yshift: 14 };
  const out = [text(theme, { x: data.months[1], xanchor: "left", text: data.paid_label, font: strong, ...own })];
  if (data.net) out.push(...netLabel(data, theme, narrow));
  if (rivalFlat) {
    const above = below || data.paid[0] < high;
    const under = data.net && data.net[1] < data.rival.p10[0] ? -28 : -12;
    const place = above ? { y: data.rival.p90[covered], yshift: 14 } : { y: data.rival.p10[0], yshift: under };
    out.push(text(theme, { x: data.months[1], xanchor: "left", text: data.rival.label, font: strong, ...place }));
  } else if (data.rival) {
    const index = nearest(data.rival.paid, data.y_max * 0.36);
    out.push(text(theme, { x: data.months[index], xanchor: "right", xshift: -14, y: data.rival.paid[index], yshift: 10, text: data.rival.label, font: strong }));
  }
  return [...out, ...(data.break_even ? breakEvenLabels(data, theme, narrow) : [])];
}

// Under the beginning of the dashed line, where it is flat until delivery.
function netLabel(data, theme, narrow) {
  const words = narrow ? data.net_short : data.net_label;
  return [text(theme, { x: data.months[1], xanchor: "left", y: data.net[1], yshift: -13, text: words })];
}

// One annotation a line: Plotly turns marked-up text into style attributes, which the page does not allow.
function breakEvenLabels(data, theme, narrow) {
  const found = data.break_even;
  const left = found.month > data.months.at(-1) * 0.45;
  const lines = narrow ? [found.title, found.short].filter(Boolean) : [found.title, ...found.lines];
  const step = 16;
  return lines.map((words, index) =>
    text(theme, {
      x: found.month,
      xanchor: left ? "right" : "left",
      xshift: left ? -8 : 8,
      y: 0,
      yshift: 22 + step * (lines.length - 1 - index),
      text: words,
      font: { family: theme.font, size: narrow ? 11 : 12, color: theme.ink, weight: index === 0 ? 600 : 400 },
    }),
  );
}

function endLabels(data, theme) {
  const strong = { family: theme.font, size: 12, color: theme.ink, weight: 600 };
  const out = data.ends.map((end, index) =>
    text(theme, { xref: "x2", yref: "y2", x: index, y: end.p90, yshift: 11, text: end.label, align: "center", font: strong }),
  );
  const lowest = Math.min(...data.ends.map((end) => end.p10));
  data.ends_label.forEach((words, index) => {
    out.push(
      text(theme, { xref: "x2", yref: "y2", x: (data.ends.length - 1) / 2, y: lowest, yshift: -18 - 15 * index, align: "center", text: words, font: { family: theme.font, size: 11, color: theme.ink2 } }),
    );
  });
  return out;
}

function axis(theme) {
  return { family: theme.font, size: 11, color: theme.ink3 };
}

export function cumulative(data, theme, width, narrow) {
  const end = narrow ? 1 : 0.71;
  const height = narrow ? 330 : 396;
  const margin = { l: 34, r: narrow ? 102 : 8, t: 26, b: 44 };
  const plotHeight = height - margin.t - margin.b;
  const shapes = [...brackets(data, theme, end)];
  if (data.break_even) {
    const found = data.break_even;
    shapes.push({ type: "line", x0: found.month, x1: found.month, y0: 0, y1: found.value, line: { color: theme.ink, width: 1.2 } });
  }
  const shown = narrow ? { ...data, ends: [] } : data;
  const layout = {
    paper_bgcolor: "rgba(0,0,0,0)",
    plot_bgcolor: "rgba(0,0,0,0)",
    font: { family: theme.font, size: 12, color: theme.ink },
    margin,
    showlegend: false,
    hovermode: false,
    dragmode: false,
    barmode: "overlay",
    shapes,
    annotations: [
      text(theme, { xref: "paper", yref: "paper", x: 0, y: 1, xshift: -30, yshift: 22, xanchor: "left", text: data.y_title, font: { family: theme.font, size: 11, color: theme.ink2 } }),
      text(theme, { xref: "paper", yref: "paper", x: 0, y: 0, yshift: -38, xanchor: "left", text: data.x_title, font: { family: theme.font, size: 11, color: theme.ink2 } }),
      ...stackLabels(data, theme, narrow, plotHeight, end),
      ...lineLabels(data, theme, narrow, ((width - margin.l - margin.r) * end) / data.months.at(-1)),
      ...(narrow ? [] : endLabels(data, theme)),
    ],
    xaxis: {
      domain: [0, end],
      range: [0, data.months.at(-1)],
      tickvals: narrow ? data.x_ticks.filter((_, index) => index % 2 === 0) : data.x_ticks,
      tickfont: axis(theme),
      showgrid: false,
      zeroline: false,
      linecolor: theme.axis,
      showline: true,
      fixedrange: true,
    },
    yaxis: {
      range: [0, data.y_max],
      tickvals: data.y_ticks,
      tickfont: axis(theme),
      gridcolor: theme.grid,
      zeroline: false,
      fixedrange: true,
    },
  };
  if (!narrow) layout.xaxis2 = { domain: [0.89, 1], range: [-0.6, Math.max(0.6, data.ends.length - 0.4)], visible: false, fixedrange: true, anchor: "y2" };
  if (!narrow) layout.yaxis2 = { range: [0, data.y_max], visible: false, fixedrange: true, anchor: "x2" };
  return { data: traces(shown, theme), layout };
}
