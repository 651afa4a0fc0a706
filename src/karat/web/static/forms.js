// Forms and dialogs.

// A form that sends JSON, and shows errors or the message that `work` returns.
export function onSubmit(form, work) {
  const said = form.querySelector(".said");
  const button = form.querySelector("button[type=submit]");
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    said.hidden = true;
    button.setAttribute("aria-disabled", "true");
    button.disabled = true;
    try {
      const done = await work(Object.fromEntries(new FormData(form)), form);
      if (done) {
        said.textContent = done;
        said.classList.add("good");
        said.hidden = false;
      }
    } catch (error) {
      said.classList.remove("good");
      said.textContent = sentence(error.message);
      said.hidden = false;
    }
    button.disabled = false;
    button.removeAttribute("aria-disabled");
  });
}

export function sentence(text) {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

let asked = Promise.resolve();

// Open a dialog, and return a promise of whether it was left by its button "yes"; Escape leaves it by no button. A dialog
// tells that it was closed some time after it closed: the next question waits for that, or it would be answered too.
export function ask(dialog, fill = () => {}) {
  const answer = asked.then(() => new Promise((resolve) => {
    fill();
    dialog.returnValue = "";
    dialog.addEventListener("close", () => resolve(dialog.returnValue === "yes"), { once: true });
    dialog.showModal();
  }));
  asked = answer.catch(() => {});
  return answer;
}
