// A form that sends json and says what is wrong.

export function onSubmit(form, work) {
  const said = form.querySelector(".said");
  const button = form.querySelector("button[type=submit]");
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    said.hidden = true;
    button.setAttribute("aria-disabled", "true");
    button.disabled = true;
    try {
      await work(Object.fromEntries(new FormData(form)), form);
    } catch (error) {
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
