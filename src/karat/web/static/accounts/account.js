import { go, send } from "../http.js";
import { onSubmit } from "../forms.js";

// The session is new, and so is the CSRF token: reload the page.
onSubmit(document.getElementById("password-form"), async (given) => {
  await send("POST", "/api/password", { old: given.old, new: given.new });
  go("/account");
});
