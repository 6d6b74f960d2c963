// The tasks in the plan's order, with subtasks indented.

import { avatars, fresh, mark, nothing, notes, title } from "./card.js";
import { el } from "./dom.js";
import { Rows } from "./rows.js";

export class Tree {
  constructor(board) {
    this.board = board;
    this.folded = new Set();
    this.items = new Map();
    this.rows = new Rows({
      label: "Tasks and subtasks",
      height: 38,
      role: "tree",
      list: "div",
      item: "div",
      draw: (item, row) => this.draw(item, row),
      keys: (event, item, rows) => this.press(event, item, rows),
    });
    this.empty = el("p", { class: "empty quiet" });
    this.element = el("div", { class: "tree" }, this.empty, this.rows.box);
  }

  draw({ task }, row) {
    const plan = this.board.plan;
    const inner = plan.children.has(task.id);
    const level = plan.depth.get(task.id);
    row.setAttribute("role", "none");
    row.style.setProperty("--level", Math.min(level, 16));
    const siblings = plan.siblings(task);
    const handle = el(
      "div",
      {
        role: "treeitem",
        "data-handle": true,
        "aria-level": level + 1,
        "aria-setsize": siblings.length,
        "aria-posinset": (this.places.get(task.id) ?? 0) + 1,
        "aria-expanded": inner ? String(!this.folded.has(task.id)) : null,
        onclick: (event) => (event.target.closest(".fold") ? this.fold(task.id) : this.board.edit(task.id)),
      },
      el("span", { class: "fold", "aria-hidden": "true" }, inner ? (this.folded.has(task.id) ? "▸" : "▾") : ""),
      mark(task),
      " ",
      title(task),
      " ",
      el("span", { class: "notes" }, notes(plan, task)),
      avatars(task),
    );
    return handle;
  }

  fold(id, folded = !this.folded.has(id)) {
    if (folded) this.folded.add(id);
    else this.folded.delete(id);
    this.items.delete(id);
    this.show(this.board.plan);
  }

  press(event, item, rows) {
    const plan = this.board.plan;
    if (event.altKey && ["ArrowUp", "ArrowDown"].includes(event.key)) {
      event.preventDefault();
      this.board.shift(item.id, event.key === "ArrowUp" ? -1 : 1);
    } else if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      this.board.edit(item.id);
    } else if (event.key === "ArrowRight" && plan.children.has(item.id)) {
      event.preventDefault();
      if (this.folded.has(item.id)) this.fold(item.id, false);
      else rows.focusId(plan.children.get(item.id)[0]);
    } else if (event.key === "ArrowLeft") {
      event.preventDefault();
      if (plan.children.has(item.id) && !this.folded.has(item.id)) this.fold(item.id, true);
      else rows.focusId(item.task.parent);
    } else return false;
    return true;
  }

  show(plan) {
    const hidden = new Set();
    const seen = [];
    this.places = new Map();
    const counted = new Map();
    for (const task of plan.list()) {
      const above = plan.tasks.has(task.parent) ? task.parent : null;
      this.places.set(task.id, counted.get(above) ?? 0);
      counted.set(above, (counted.get(above) ?? 0) + 1);
      if (above && (hidden.has(above) || this.folded.has(above))) hidden.add(task.id);
      else if (this.board.wanted(task)) seen.push(task);
    }
    this.empty.hidden = seen.length > 0;
    this.empty.textContent = nothing(this.board);
    this.rows.set(
      seen.map((task) =>
        fresh(this.items, task, `${plan.hint(task)}|${plan.blockers(task)}|${plan.children.get(task.id) ?? ""}|${plan.depth.get(task.id)}`),
      ),
    );
  }

  focus(id) {
    return this.rows.focusId(id);
  }
}
