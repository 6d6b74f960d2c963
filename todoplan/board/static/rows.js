// A list of any length with rows of equal height. Only the visible rows are in the page.
// Tab reaches one row, the current one; the arrow keys move from there to the others.

import { el, soon } from "./dom.js";

const BEYOND = 6;

export class Rows {
  constructor({ label, height, draw, open, role = "list", keys = () => false, list = "ul", item = "li" }) {
    this.height = height;
    this.draw = draw;
    this.open = open;
    this.keys = keys;
    this.tree = role === "tree";
    this.item = item;
    this.items = [];
    this.current = 0;
    this.made = new Map();
    this.body = el(list, { class: "rows", role, "aria-label": label });
    this.box = el("div", { class: "scroll" }, this.body);
    this.paint = soon(() => this.draw_now());
    // Not with `paint`, which waits while the scrollbar is pressed. There is at most one scroll event per frame.
    this.box.addEventListener("scroll", () => this.draw_now(), { passive: true });
    this.box.addEventListener("keydown", (event) => this.press(event));
    this.box.addEventListener("focusin", (event) => this.entered(event));
    new ResizeObserver(this.paint).observe(this.box);
  }

  // Sets the items, each with an `id`. An item is drawn again only if it is another object than before.
  set(items) {
    const id = this.items[this.current]?.id;
    const place = items.findIndex((item) => item.id === id);
    this.items = items;
    this.current = place >= 0 ? place : Math.max(0, Math.min(this.current, items.length - 1));
    this.body.style.height = `${items.length * this.height}px`;
    this.paint();
  }

  redraw() {
    this.made.forEach((made) => {
      made.item = null;
    });
    this.paint();
  }

  draw_now() {
    const first = Math.max(0, Math.floor(this.box.scrollTop / this.height) - BEYOND);
    const seen = Math.ceil((this.box.clientHeight || 600) / this.height) + 2 * BEYOND;
    const last = Math.min(this.items.length, first + seen);
    const wanted = [];
    for (let place = first; place < last; place++) wanted.push(place);
    // The current row stays in the page even if it is not visible: without it, the focus would be lost.
    if (this.items.length && (this.current < first || this.current >= last)) wanted.push(this.current);
    const keep = new Set(wanted.map((place) => this.items[place].id));
    for (const [id, made] of this.made) {
      if (!keep.has(id)) {
        made.row.remove();
        this.made.delete(id);
      }
    }
    let before = null;
    for (const place of wanted.sort((a, b) => a - b)) {
      const row = this.row(place);
      const next = before ? before.nextSibling : this.body.firstChild;
      // Move a row only if necessary, because a row that is moved loses the focus.
      if (row !== next) this.body.insertBefore(row, next);
      before = row;
    }
  }

  row(place) {
    const item = this.items[place];
    let made = this.made.get(item.id);
    if (!made) {
      const row = el(this.item, { class: "row", "data-id": item.id });
      made = { row, item: null, place: -1 };
      this.made.set(item.id, made);
    }
    if (made.item !== item) {
      const had = made.row.contains(document.activeElement);
      made.row.replaceChildren(...[this.draw(item, made.row)].flat());
      made.item = item;
      made.place = -1;
      this.handle(made.row).tabIndex = place === this.current ? 0 : -1;
      if (had) this.handle(made.row).focus({ preventScroll: true });
    }
    if (made.place !== place) {
      made.place = place;
      made.row.style.top = `${place * this.height}px`;
      const labelled = this.tree ? this.handle(made.row) : made.row;
      if (!this.tree) {
        labelled.setAttribute("aria-setsize", this.items.length);
        labelled.setAttribute("aria-posinset", place + 1);
      }
    }
    this.handle(made.row).tabIndex = place === this.current ? 0 : -1;
    return made.row;
  }

  handle(row) {
    return row.querySelector("[data-handle]") ?? row;
  }

  entered(event) {
    const id = event.target.closest(".row")?.dataset.id;
    const place = this.items.findIndex((item) => item.id === id);
    if (place < 0 || place === this.current) return;
    this.current = place;
    this.paint();
  }

  press(event) {
    const page = Math.max(1, Math.floor(this.box.clientHeight / this.height) - 1);
    const item = this.items[this.current];
    if (!item || this.keys(event, item, this)) return;
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const moves = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -Infinity, End: Infinity };
    if (event.key in moves) {
      event.preventDefault();
      this.focus(this.current + moves[event.key]);
    }
  }

  focus(place) {
    if (!this.items.length) return;
    this.current = Math.max(0, Math.min(place, this.items.length - 1));
    const top = this.current * this.height;
    if (top < this.box.scrollTop) this.box.scrollTop = top;
    else if (top + this.height > this.box.scrollTop + this.box.clientHeight) {
      this.box.scrollTop = top + this.height - this.box.clientHeight;
    }
    const { id } = this.items[this.current];
    // Draw first: a row that is drawn later would take the focus back, and would become the current row again.
    this.draw_now();
    this.handle(this.made.get(id).row).focus({ preventScroll: true });
  }

  focusId(id) {
    const place = this.items.findIndex((item) => item.id === id);
    if (place >= 0) this.focus(place);
    return place >= 0;
  }
}
