import { go, send } from "../http.js";
import { onSubmit } from "../forms.js";

const form = document.getElementById("login");

// A link from another site opens this page without the session cookie; from here, the cookie is sent.
send("GET", "/api/session").then((who) => {
  if (who.name) go(form.dataset.next || "/");
}).catch(() => {});

onSubmit(form, async ({ name, password }) => {
  const { next } = await send("POST", "/api/session", { name, password, next: form.dataset.next });
  go(next);
});
