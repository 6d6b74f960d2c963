// Functions that build elements. Texts of tasks are inserted as text only, never parsed as markup.

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

// Like `replaceChildren`, but skips `false` and `null`, which would appear as words.
export function put(element, ...children) {
  element.replaceChildren(...children.flat(2).filter((child) => child != null && child !== false));
}

// Returns a text in one line. Control characters, invisible characters and characters that reverse a line become a sign.
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

// Whether the main mouse button or a finger is pressed.
let pressed = false;

for (const kind of ["pointerdown", "pointermove", "pointerup", "pointercancel"]) {
  addEventListener(kind, (event) => (pressed = (event.buttons & 1) === 1), true);
}

// Returns a function that calls `act` in the next frame in which nothing is pressed. A button that is replaced between
// press and release would get no click.
export function soon(act) {
  let asked = 0;
  const run = () => {
    asked = pressed ? requestAnimationFrame(run) : 0;
    if (!asked) act();
  };
  return () => {
    asked ||= requestAnimationFrame(run);
  };
}
