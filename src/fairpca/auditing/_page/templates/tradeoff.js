// The slider for lambda: it moves the marked point, the bars and the sentence.

const slider = document.getElementById("lambda");

const percent = (value) => (value === null ? "n/a" : `${(100 * value).toFixed(1)}\u00a0%`);
const points = (value) => (value === null ? "n/a" : `${(100 * value).toFixed(1)} points`);
const significant = (value) => String(Number(value.toPrecision(3)));

function interval(estimate) {
  if (estimate.low === null || estimate.high === null) return "";
  return ` (${(100 * estimate.low).toFixed(1)} to ${(100 * estimate.high).toFixed(1)})`;
}

/** The chosen lambda of the chosen curve, and how it treats the groups of the chosen attribute. */
function chosenPoint() {
  const point = audit.curves[Number(choices.curve)].points[Number(slider.value)];
  const attribute = audit.data.attributes[Number(choices.attribute)];
  const parity = point.parities.find((one) => one.attribute === attribute.name);
  return { point, attribute, parity };
}

function setBar(bars, estimates, scale) {
  bars.array = estimates.map((one) => (one.high === null ? 0 : Math.max(0, scale * (one.high - one.value))));
  bars.arrayminus = estimates.map((one) => (one.low === null ? 0 : Math.max(0, scale * (one.value - one.low))));
}

finishing.tradeoff = (figure) => {
  const { point, parity } = chosenPoint();
  if (!parity || parity.dp_gap.value === null || point.accuracy.value === null) return;
  const mark = figure.data.at(-1);
  mark.x = [100 * parity.dp_gap.value];
  mark.y = [100 * point.accuracy.value];
  mark.hovertext = [`lambda ${significant(point.tradeoff)}`];
  setBar(mark.error_x, [parity.dp_gap], 100);
  setBar(mark.error_y, [point.accuracy], 100);
};

finishing.rates = (figure) => {
  const { attribute, parity } = chosenPoint();
  const [bars, numbers] = figure.data;
  const unknown = { value: null, low: null, high: null };
  const rates = attribute.groups.map((group) => {
    const found = parity && parity.groups.find((one) => one.label === group.label);
    return found ? found.selection_rate : unknown;
  });
  bars.x = rates.map((one) => one.value);
  setBar(bars.error_x, rates, 1);
  numbers.text = rates.map((one) => percent(one.value));
  const said = attribute.groups.map((group, place) => `${group.label} ${percent(rates[place].value)}`);
  figure.finding = `Positive decisions by group: ${said.join(", ")}.`;
};

function sayPoint() {
  const { point, attribute, parity } = chosenPoint();
  const lambda = significant(point.tradeoff);
  document.getElementById("lambda-value").textContent = lambda;
  slider.setAttribute("aria-valuetext", `lambda ${lambda}`);
  const said = [`At lambda ${lambda}: accuracy ${percent(point.accuracy.value)}${interval(point.accuracy)}`];
  if (parity) {
    said.push(`selection rates of the groups of ${attribute.name} differ by up to ${points(parity.dp_gap.value)}${interval(parity.dp_gap)}`);
    if (parity.eo_gap) said.push(`true positive rates by up to ${points(parity.eo_gap.value)}${interval(parity.eo_gap)}`);
  }
  document.getElementById("tradeoff-text").textContent = `${said.join("; ")}.`;
}

/** Give the slider one step per lambda of the chosen curve, and keep its place if it can. */
function fitSlider() {
  if (!slider) return;
  slider.max = String(audit.curves[Number(choices.curve)].points.length - 1);
  sayPoint();
}

/** Begin at the advised lambda, if there is one. */
function startSlider() {
  if (!slider) return;
  const lambdas = audit.curves[0].points.map((point) => point.tradeoff);
  const advised = audit.advice.tradeoff ?? 0;
  const distances = lambdas.map((lambda) => Math.abs(lambda - advised));
  slider.max = String(lambdas.length - 1);
  slider.value = String(distances.indexOf(Math.min(...distances)));
  slider.addEventListener("input", () => {
    sayPoint();
    drawNamed("tradeoff", "rates");
  });
  sayPoint();
}
