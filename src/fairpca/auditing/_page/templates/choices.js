// What the reader has chosen, and the parts of the page that are shown for it.

const audit = JSON.parse(document.getElementById("audit-data").textContent);
const figures = JSON.parse(document.getElementById("figure-data").textContent);
const choices = { attribute: "0", curve: "0", model: "linear" };

/** Whether something made for some settings of the choosers is to be seen now. */
function isChosen(madeFor) {
  return Object.entries(madeFor).every(
    ([name, value]) => !(name in choices) || choices[name] === value,
  );
}

/** Show the tables of the chosen attribute and model, hide those of others. */
function showChosen() {
  const names = Object.keys(choices);
  const selector = names.map((name) => `[data-for-${name}]`).join(",");
  for (const part of document.querySelectorAll(selector)) {
    part.hidden = names.some((name) => {
      const value = part.getAttribute(`data-for-${name}`);
      return value !== null && value !== choices[name];
    });
  }
}

/** Let every chooser of the same name show and set the same choice. */
function startChoosers(onChange) {
  const choosers = [...document.querySelectorAll("select[data-choice]")];
  for (const chooser of choosers) {
    const name = chooser.dataset.choice;
    choices[name] = chooser.value;
    chooser.addEventListener("change", () => {
      choices[name] = chooser.value;
      for (const other of choosers) {
        if (other.dataset.choice === name) other.value = chooser.value;
      }
      showChosen();
      onChange();
    });
  }
  const models = audit.downstream.map((entry) => entry.model);
  if (models.length && !models.includes(choices.model)) choices.model = models[0];
  showChosen();
}
