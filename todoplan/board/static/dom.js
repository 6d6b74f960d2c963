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

// Whether the main button of the mouse, or a finger, is down.
let pressed = false;

for (const kind of ["pointerdown", "pointermove", "pointerup", "pointercancel"]) {
  addEventListener(kind, (event) => (pressed = (event.buttons & 1) === 1), true);
}

// Draws with the next frame in which nothing is pressed. A row that jumps while it is read is worse than one that is
// late, and a button that is replaced between press and release gets no click.
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
