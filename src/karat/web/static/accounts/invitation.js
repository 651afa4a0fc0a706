// The link's token stands after the #: it is in no log, and leaves the address bar at once.
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
  owner: "You will own this project: invite people, see everything, publish.",
  judge: "You will look at pictures and captions and say whether they fit.",
  reader: "You will see how the project goes.",
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
    about.textContent = `For ${found.name}.`;
    form.querySelector("button").textContent = "Save";
  }
  if (found.name) {
    const name = form.elements.name;
    name.value = found.name;
    name.readOnly = true;
  }
  form.hidden = false;
  (found.name ? form.elements.password : form.elements.name).focus();
}

async function start() {
  if (!token) {
    about.textContent = "This page needs the whole link that you were sent.";
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
