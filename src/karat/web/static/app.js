// On every page: signing out.
import { go, send } from "./http.js";

document.getElementById("sign-out")?.addEventListener("click", async () => {
  try {
    await send("DELETE", "/api/session");
  } finally {
    go("/login");
  }
});
