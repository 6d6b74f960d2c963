// Elements made of texts, never of markup: whatever stands in a task is text, and stays it.

const SVG = "http://www.w3.org/2000/svg";

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value != null) element.setAttribute(name, value);
  }
  element.append(...children.flat(2).filter((child) => child != null && child !== false));
  return element;
}

export function el(tag, attributes = {}, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

export function svg(tag, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

// As `replaceChildren`, without what is not there: that would write "false" and "null".
export function put(element, ...children) {
  element.replaceChildren(...children.flat(2).filter((child) => child != null && child !== false));
}

// Texts of others may hold what turns a line around or cannot be seen: it is shown as a sign.
export function shown(text, most = 400) {
  const safe = String(text ?? "").replace(
    /[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]+/g,
    (found) => (/^[\n\t\r]+$/.test(found) ? " " : "\ufffd"),
  );
  return safe.length > most ? `${safe.slice(0, most - 1)}…` : safe;
}

export function words(status) {
  return status.replaceAll("_", " ");
}

export function moment(text) {
  if (!text) return "";
  const at = new Date(text);
  return at.toLocaleString([], { dateStyle: "short", timeStyle: "medium" });
}

// What a person presses stays until it is let go: a button that is made anew in between hears no click.
const waiting = new Set();
let pressed = false;

function letGo() {
  pressed = false;
  // After the click, which comes right behind the end of the press.
  setTimeout(() => {
    for (const act of waiting) act();
  });
}

addEventListener("pointerdown", (event) => (pressed = event.button === 0), true);
for (const kind of ["pointerup", "pointercancel", "pointermove"]) {
  addEventListener(kind, (event) => pressed && !(event.buttons & 1) && letGo(), true);
}
addEventListener("blur", letGo);

// A row that jumps while it is read is worse than one that is late.
export function soon(act) {
  let asked = 0;
  const run = () => {
    if (pressed) return waiting.add(run);
    waiting.delete(run);
    asked = 0;
    return act();
  };
  return () => {
    asked ||= requestAnimationFrame(run);
  };
}
