// The page: theme, copying, downloading, printing; and the start of everything.

const root = document.documentElement;
const themeButton = document.getElementById("theme");
const darkSystem = matchMedia("(prefers-color-scheme: dark)");

function isDark() {
  return root.dataset.theme ? root.dataset.theme === "dark" : darkSystem.matches;
}

function showTheme() {
  themeButton.setAttribute("aria-pressed", String(isDark()));
  drawAll();
}

function say(text) {
  document.getElementById("said").textContent = text;
}

async function copy(button) {
  const code = document.getElementById(button.dataset.copies);
  try {
    await navigator.clipboard.writeText(code.textContent);
    button.textContent = "Copied";
    say("Copied.");
  } catch {
    getSelection().selectAllChildren(code);
    say("The text is selected; copy it with the keyboard.");
  }
  setTimeout(() => (button.textContent = "Copy"), 2000);
}

function download() {
  const text = JSON.stringify(audit, null, 1);
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type: "application/json" }));
  link.download = "audit.json";
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  say("The numbers are being downloaded.");
}

const PAPER = 660; // width of the text on A4, in pixels
let beforePaper = null;

/** Paper has light colours, open tables, and plots as wide as the sheet. */
function toPaper() {
  beforePaper = { theme: root.dataset.theme, closed: [...document.querySelectorAll("details:not([open])")] };
  root.dataset.theme = "light";
  for (const part of beforePaper.closed) part.open = true;
  for (const table of document.querySelectorAll("table")) {
    // Type on paper is smaller than on the screen by about a fifth.
    table.style.setProperty("--paper-zoom", table.matches(".wide") ? 1 : Math.min(1, PAPER / (0.8 * table.scrollWidth)));
  }
  const widths = { tradeoff: 0.57 * PAPER, rates: 0.37 * PAPER, components: (document.querySelector(".in-pairs") ? 0.47 : 0.32) * PAPER };
  drawAll((plot) => widths[plot.dataset.figure] ?? PAPER);
}

function fromPaper() {
  if (!beforePaper) return;
  if (beforePaper.theme) root.dataset.theme = beforePaper.theme;
  else delete root.dataset.theme;
  for (const part of beforePaper.closed) part.open = false;
  beforePaper = null;
  drawAll();
}

function redraw() {
  fitSlider();
  showFindings();
  showKeys();
  drawAll();
}

startChoosers(redraw);
startSlider();
showFindings();
showKeys();
showTheme();
themeButton.addEventListener("click", () => {
  root.dataset.theme = isDark() ? "light" : "dark";
  showTheme();
});
darkSystem.addEventListener("change", showTheme);
addEventListener("beforeprint", toPaper);
addEventListener("afterprint", fromPaper);
document.getElementById("download").addEventListener("click", download);
for (const button of document.querySelectorAll("[data-copies]")) {
  button.addEventListener("click", () => copy(button));
}
root.dataset.ready = "";
