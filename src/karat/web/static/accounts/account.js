import { go, send } from "../http.js";
import { onSubmit } from "../forms.js";

// A new session began, so the page's token is new too: load it again.
onSubmit(document.getElementById("password-form"), async (given) => {
  await send("POST", "/api/password", { old: given.old, new: given.new });
  go("/account");
});
