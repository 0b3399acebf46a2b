// The page: choosers of attribute and model, theme, copying, downloading, opening details.

const root = document.documentElement;
const themeButton = document.getElementById("theme");
const darkSystem = matchMedia("(prefers-color-scheme: dark)");
const choosers = [...document.querySelectorAll("select[data-choice]")];
const choices = Object.fromEntries(choosers.map((one) => [one.dataset.choice, one.value]));

/** Show what was made for the chosen attribute and model; hide what was made for others. */
function showChosen() {
  for (const name of ["attribute", "model"]) {
    for (const chooser of choosers) {
      if (chooser.dataset.choice === name) chooser.value = choices[name];
    }
  }
  for (const part of document.querySelectorAll("[data-for]")) {
    part.hidden = Object.entries(JSON.parse(part.dataset.for)).some(
      ([name, value]) => name in choices && choices[name] !== value,
    );
  }
}

function isDark() {
  return root.dataset.theme ? root.dataset.theme === "dark" : darkSystem.matches;
}

function showTheme() {
  const other = isDark() ? "Light" : "Dark";
  themeButton.textContent = other;
  themeButton.setAttribute("aria-label", `Switch to the ${other.toLowerCase()} theme`);
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
  const audit = JSON.parse(document.getElementById("audit-data").textContent);
  const link = document.createElement("a");
  const text = JSON.stringify(audit, null, 1);
  link.href = URL.createObjectURL(new Blob([text], { type: "application/json" }));
  link.download = "audit.json";
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  say("The numbers are being downloaded.");
}

/** Open the part that a link of this page leads to. */
function openLinked() {
  const linked = location.hash && document.getElementById(location.hash.slice(1));
  if (linked && linked.matches("details")) linked.open = true;
}

let closed = [];
addEventListener("beforeprint", () => {
  closed = [...document.querySelectorAll("details:not([open])")];
  for (const part of closed) part.open = true;
});
addEventListener("afterprint", () => {
  for (const part of closed) part.open = false;
});
for (const chooser of choosers) {
  chooser.addEventListener("change", () => {
    choices[chooser.dataset.choice] = chooser.value;
    showChosen();
  });
}
themeButton.addEventListener("click", () => {
  root.dataset.theme = isDark() ? "light" : "dark";
  showTheme();
});
darkSystem.addEventListener("change", showTheme);
addEventListener("hashchange", openLinked);
document.getElementById("download").addEventListener("click", download);
for (const button of document.querySelectorAll("[data-copies]")) {
  button.addEventListener("click", () => copy(button));
}
showChosen();
showTheme();
openLinked();
root.dataset.ready = "";
