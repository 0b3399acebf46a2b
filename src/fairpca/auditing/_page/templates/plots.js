// Plots: colours of the theme, one look for all axes, a legend of buttons.

const CONFIG = { displayModeBar: false, responsive: true, scrollZoom: false };
const switchedOff = new Set(); // entries of legends, as "figure|name"
const finishing = {}; // by figure: what to fill in before it is drawn

const probe = document.body.appendChild(document.createElement("span"));
probe.hidden = true;

/** The present value of a colour such as "var(--text)". */
function colour(variable) {
  probe.style.color = variable;
  return getComputedStyle(probe).color;
}

/** A copy in which variables of the style sheet are colours. Only colours: labels are data. */
function themed(value, key = "") {
  if (Array.isArray(value)) return value.map((entry) => themed(entry, key));
  if (value && typeof value === "object") {
    return Object.fromEntries(Object.entries(value).map(([name, entry]) => [name, themed(entry, name)]));
  }
  const isColour = key.endsWith("color") && typeof value === "string" && value.startsWith("var(");
  return isColour ? colour(value) : value;
}

function axis(own, fixed) {
  return {
    automargin: true,
    fixedrange: fixed,
    gridcolor: "var(--line)",
    linecolor: "var(--line)",
    zeroline: false,
    tickfont: { size: 13 },
    ...own,
    title: { standoff: 10, font: { size: 13, color: "var(--muted)" }, ...own.title },
  };
}

function layoutOf(figure, width, room) {
  const own = figure.layout;
  const height = figure.aspect ? Math.min(own.height, Math.max(240, figure.aspect * room)) : own.height;
  const fixed = !own.dragmode || !matchMedia("(hover: hover)").matches;
  return themed({
    font: { family: getComputedStyle(document.body).fontFamily, size: 13, color: "var(--text)" },
    paper_bgcolor: "rgba(0,0,0,0)",
    plot_bgcolor: "rgba(0,0,0,0)",
    margin: { l: 8, r: 14, t: 10, b: 40 },
    showlegend: false,
    hoverlabel: {
      bgcolor: "var(--raised)",
      bordercolor: "var(--faint)",
      font: { color: "var(--text)", size: 13 },
      align: "left",
      namelength: 0,
    },
    ...own,
    height,
    ...(width ? { width, autosize: false } : { autosize: true }),
    dragmode: fixed ? false : own.dragmode,
    xaxis: axis(own.xaxis, fixed),
    yaxis: axis(own.yaxis, fixed),
  });
}

/** The points of a trace that says which rows of the pictures it shows. */
function rowsOf(trace) {
  if (!trace.rows) return {};
  const { x, y } = audit.pictures.panels[trace.rows.panel];
  const codes = audit.pictures.groups[trace.rows.groups].codes;
  const mine = (values) => values.filter((_, row) => codes[row] === trace.rows.code);
  return { x: mine(x), y: mine(y) };
}

/** The figure that a plot shows under the present choices. */
function figureOf(name, panel) {
  return figures[name].find(
    (one) => isChosen(one.choice) && (panel === undefined || one.choice.panel === panel),
  );
}

function draw(plot, width) {
  const { figure: name, panel } = plot.dataset;
  const found = figureOf(name, panel);
  plot.hidden = !found;
  if (!found) return;
  const figure = structuredClone(found);
  if (finishing[name]) finishing[name](figure, plot);
  const traces = figure.data.map(({ rows, ...trace }) => ({
    ...trace,
    ...rowsOf({ rows }),
    visible: !switchedOff.has(`${name}|${trace.legendgroup}`),
  }));
  plot.setAttribute("aria-label", figure.finding || name);
  Plotly.react(plot, themed(traces), layoutOf(figure, width, width ?? plot.clientWidth), CONFIG);
}

/** Draw all plots; with a width where the page cannot tell, as on paper. */
function drawAll(widthOf = () => undefined) {
  for (const plot of document.querySelectorAll("[data-figure]")) draw(plot, widthOf(plot));
}

function drawNamed(...names) {
  for (const name of names) {
    for (const plot of document.querySelectorAll(`[data-figure="${name}"]`)) draw(plot);
  }
}

function showFindings() {
  for (const text of document.querySelectorAll("[data-finding]")) {
    const figure = figureOf(text.dataset.finding, text.dataset.panel);
    text.textContent = figure ? figure.finding : "Not measured for this choice.";
  }
}

const SHAPES = {
  circle: "M15 7a5 5 0 1 1-10 0a5 5 0 1 1 10 0z",
  square: "M5.5 2.5h9v9h-9z",
  diamond: "M10 1l6 6l-6 6l-6-6z",
  "triangle-up": "M10 1.5l6 10.5h-12z",
  "triangle-down": "M10 12.5l6-10.5h-12z",
  cross: "M8 2h4v3h3v4h-3v3h-4v-3h-3v-4h3z",
  x: "M6.5 1l3.5 3.5l3.5-3.5l2.5 2.5l-3.5 3.5l3.5 3.5l-2.5 2.5l-3.5-3.5l-3.5 3.5l-2.5-2.5l3.5-3.5l-3.5-3.5z",
  star: "M10 0l1.8 4.8l5.2.2l-4 3.3l1.400 5l-4.400-2.900l-4.400 2.900l1.400-5l-4-3.300l5.200-.2z",
  bar: "M1 3h18v8h-18z",
  line: "M0 6h20v2h-20z",
  ring: "M10 0a7 7 0 1 0 .01 0zM10 4a3 3 0 1 1-.01 0z",
};

function drawing(entry) {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  const path = svg.appendChild(document.createElementNS("http://www.w3.org/2000/svg", "path"));
  svg.setAttribute("viewBox", "0 0 20 14");
  svg.setAttribute("aria-hidden", "true");
  path.setAttribute("d", SHAPES[entry.symbol] || SHAPES.circle);
  path.style.fill = entry.colour;
  return svg;
}

/** Legends are lists of buttons, so that they wrap on phones and work with a keyboard. */
function showKeys() {
  for (const list of document.querySelectorAll("[data-key]")) {
    const name = list.dataset.key;
    const figure = figureOf(name);
    list.replaceChildren();
    for (const entry of figure ? figure.key : []) {
      const id = `${name}|${entry.name}`;
      const button = document.createElement("button");
      button.type = "button";
      button.setAttribute("aria-pressed", String(!switchedOff.has(id)));
      button.append(drawing(entry), Object.assign(document.createElement("span"), { textContent: entry.name }));
      button.addEventListener("click", () => {
        if (!switchedOff.delete(id)) switchedOff.add(id);
        button.setAttribute("aria-pressed", String(!switchedOff.has(id)));
        drawNamed(name);
      });
      list.appendChild(document.createElement("li")).append(button);
    }
  }
}
