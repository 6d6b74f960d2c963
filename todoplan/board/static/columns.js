// The tasks in columns, by status.

import { fresh, mark, notes, title } from "./card.js";
import { el, words } from "./dom.js";
import { STATUSES } from "./model.js";
import { Rows } from "./rows.js";

const NAMES = { pending: "To do", in_progress: "In progress", completed: "Completed", failed: "Failed", cancelled: "Cancelled" };

export class Columns {
  constructor(board) {
    this.board = board;
    this.columns = STATUSES.map((status) => this.column(status));
    this.element = el("div", { class: "columns" }, this.columns.map(({ section }) => section));
  }

  column(status) {
    const count = el("span", { class: "count" });
    const rows = new Rows({
      label: NAMES[status],
      height: 76,
      draw: (item) => this.draw(item.task),
      keys: (event, item) => this.press(event, item, status),
    });
    const section = el(
      "section",
      { class: `column ${status}`, "aria-label": NAMES[status] },
      el("h2", {}, NAMES[status], " ", count),
      rows.box,
    );
    return { status, rows, section, count, items: new Map() };
  }

  draw(task) {
    return el(
      "button",
      { class: "card", type: "button", "data-handle": true, onclick: () => this.board.edit(task.id) },
      el("span", { class: "line" }, mark(task), " ", title(task)),
      el("span", { class: "notes" }, notes(this.board.plan, task)),
    );
  }

  press(event, item, status) {
    if (event.altKey && ["ArrowUp", "ArrowDown"].includes(event.key)) {
      event.preventDefault();
      this.board.shift(item.id, event.key === "ArrowUp" ? -1 : 1);
      return true;
    }
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!step || event.altKey) return false;
    event.preventDefault();
    let place = STATUSES.indexOf(status) + step;
    while (this.columns[place] && !this.columns[place].rows.items.length) place += step;
    this.columns[place]?.rows.focus(this.columns[place].rows.current);
    return true;
  }

  show(plan) {
    const by = Object.fromEntries(STATUSES.map((status) => [status, []]));
    for (const task of plan.list()) {
      if (this.board.wanted(task)) by[task.status].push(task);
    }
    for (const { status, rows, section, count, items } of this.columns) {
      const tasks = by[status];
      // What a card says of others (who blocks it, what is within) changes without the task itself.
      rows.set(tasks.map((task) => fresh(items, task, `${plan.hint(task)}|${plan.blockers(task)}|${inner(plan, task)}`)));
      count.textContent = tasks.length;
      section.hidden = !tasks.length && (status === "failed" || status === "cancelled");
      rows.body.setAttribute("aria-label", `${NAMES[status]}, ${tasks.length}`);
    }
  }

  focus(id) {
    return this.columns.some(({ rows }) => rows.focusId(id));
  }
}

function inner(plan, task) {
  return (plan.children.get(task.id) ?? []).map((id) => words(plan.tasks.get(id).status)[0]).join("");
}
