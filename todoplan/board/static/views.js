// The views of one plan. Tabs choose which view is shown.

import { el } from "./dom.js";

export class Views {
  constructor(board, views) {
    this.board = board;
    this.names = views.map(([name]) => name);
    this.all = Object.fromEntries(views.map(([name, , View]) => [name, new View(board)]));
    this.place = el("div", { class: "view", id: "view", role: "tabpanel" });
    this.tabs = views.map(([name, label]) =>
      el("button", { type: "button", role: "tab", id: `tab-${name}`, "aria-controls": "view", onclick: () => this.turn(name) }, label),
    );
    this.list = el("div", { role: "tablist", "aria-label": "Views", onkeydown: (event) => this.press(event) }, this.tabs);
    this.turn(this.names[0]);
  }

  press(event) {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!step) return;
    event.preventDefault();
    const next = (this.names.indexOf(this.now) + step + this.names.length) % this.names.length;
    this.turn(this.names[next]);
    this.tabs[next].focus();
  }

  turn(name) {
    this.now = name;
    this.names.forEach((each, place) => {
      this.tabs[place].setAttribute("aria-selected", String(each === name));
      this.tabs[place].tabIndex = each === name ? 0 : -1;
    });
    this.place.setAttribute("aria-labelledby", `tab-${name}`);
    this.place.replaceChildren(this.all[name].element);
    this.show();
  }

  show() {
    this.all[this.now].show(this.board.plan);
  }

  focus(id) {
    this.all[this.now].focus(id);
  }
}
