// The token is in the fragment of the link, so no log contains it; it is removed from the address bar at once.
import { go, send } from "../http.js";
import { onSubmit, sentence } from "../forms.js";

const KEY = "karat-link";
const token = location.hash.slice(1) || sessionStorage.getItem(KEY) || "";
sessionStorage.setItem(KEY, token);
history.replaceState(null, "", location.pathname);

const form = document.getElementById("accept");
const about = document.getElementById("about");
const welcome = document.getElementById("welcome");
const WHAT = {
  owner: "You are invited as an owner: you can invite users, see all results, and publish.",
  judge: "You are invited as an annotator: you judge whether captions describe images.",
  reader: "You are invited as a reader: you can see the dashboard of the project.",
};

async function use(body) {
  const { next } = await send("POST", "/api/invitation/accept", { token, ...body });
  sessionStorage.removeItem(KEY);
  go(next);
}

function ask(found) {
  if (found.kind === "join") {
    welcome.textContent = "Welcome";
    about.textContent = WHAT[found.role];
  } else {
    welcome.textContent = "Choose a new password";
    about.textContent = `For the user ${found.name}.`;
    form.querySelector("button").textContent = "Save password";
    document.getElementById("have-account").hidden = true;
  }
  if (found.name) {
    const name = form.elements.name;
    name.value = found.name;
    name.readOnly = true;
    // The name is already known to the owner.
    form.querySelector("#name-field .hint").hidden = true;
  }
  form.hidden = false;
  (found.name ? form.elements.password : form.elements.name).focus();
}

async function start() {
  if (!token) {
    about.textContent = "This page needs the complete link that you were sent. Open it again, or copy it as a whole.";
    return;
  }
  try {
    const found = await send("POST", "/api/invitation/look", { token });
    if (found.kind === "enter") await use({});
    else ask(found);
  } catch (error) {
    about.textContent = sentence(error.message);
    about.classList.add("bad");
  }
}

onSubmit(form, ({ name, password }) => use({ name, password }));
start();
