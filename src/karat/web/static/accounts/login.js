import { go, send } from "../http.js";
import { onSubmit } from "../forms.js";

const form = document.getElementById("login");

// A link from elsewhere comes without the cookie, which is for our own pages; from here it is sent.
send("GET", "/api/session").then((who) => {
  if (who.name) go(form.dataset.next || "/");
}).catch(() => {});

onSubmit(form, async ({ name, password }) => {
  const { next } = await send("POST", "/api/session", { name, password, next: form.dataset.next });
  go(next);
});
