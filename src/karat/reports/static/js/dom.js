// Building elements. Text only ever goes in as text: nothing from the data is read as html.

export function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (name === "on") for (const [event, call] of Object.entries(value)) element.addEventListener(event, call);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  for (const child of children.flat()) {
    if (child !== null && child !== undefined && child !== "") element.append(child);
  }
  return element;
}

// Names and captions: isolated, so that right-to-left text stays in its place.
export function isolated(text) {
  return make("bdi", {}, String(text));
}

export function shorten(text, most) {
  const letters = Array.from(String(text));
  return letters.length > most ? letters.slice(0, most - 1).join("") + "…" : String(text);
}

// A sentence of the page's data in plain text: what it marks as names, in quotation marks.
export function quoted(text) {
  return String(text).replace(/\u2068([^\u2069]*)\u2069/g, "“$1”");
}

// Cut in the middle: names of one family begin alike and differ at their end.
export function shortenMiddle(text, most) {
  const letters = Array.from(String(text));
  if (letters.length <= most) return String(text);
  const end = Math.floor((most - 1) / 2);
  return `${letters.slice(0, most - 1 - end).join("")}…${letters.slice(letters.length - end).join("")}`;
}

// Cut between words: the last one is shown whole, or not at all.
function shortenWords(text, most) {
  const short = shorten(text, most);
  const end = short.lastIndexOf(" ");
  return short === text || end < most / 2 ? short : `${short.slice(0, end)} …`;
}

// A long text, cut, with a button that shows all of it. The captions of the test sets of COCO,
// Flickr8k and Flickr30k have 373 letters at most.
export function foldable(text, most = 400) {
  const whole = String(text);
  const short = shortenWords(whole, most);
  const holder = make("span", { class: "caption", dir: "auto" }, short);
  if (short === whole) return holder;
  const button = make("button", { type: "button", class: "link", "aria-expanded": "false" }, "show all");
  button.addEventListener("click", () => {
    const open = button.getAttribute("aria-expanded") === "false";
    holder.textContent = open ? whole : short;
    button.textContent = open ? "show less" : "show all";
    button.setAttribute("aria-expanded", String(open));
  });
  return make("span", {}, holder, " ", button);
}
