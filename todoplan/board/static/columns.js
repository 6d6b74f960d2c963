// The tasks in one column for each status. A card is moved by dragging, or by Alt and an arrow key. In another column it
// gets another status, and within its column another place in the plan's order.

import { avatars, fresh, mark, nothing, notes, title } from "./card.js";
import { el } from "./dom.js";
import { NAMES, STATUSES } from "./model.js";
import { Rows } from "./rows.js";

const EMPTY = {
  in_progress: "Nobody is at work. Drag a card here, or open one and press Start.",
  completed: "Nothing is completed yet.",
};
// These columns are narrow while they are empty, but a card can be dropped on them.
const SMALL = new Set(["failed", "cancelled"]);
// The height of a row in pixels. A failed task also shows why it failed.
const HEIGHTS = { pending: 94, in_progress: 94, completed: 94, failed: 122, cancelled: 94 };

export class Columns {
  constructor(board) {
    this.board = board;
    this.dragged = null;
    this.followed = null;
    this.columns = STATUSES.map((status) => this.column(status));
    this.keys = el("p", { class: "unseen", id: "card-keys" }, "Enter opens the task. Alt and an arrow key moves it.");
    this.line = el("div", { class: "drop-line" });
    this.element = el("div", { class: "columns" }, this.columns.map(({ section }) => section), this.keys);
  }

  column(status) {
    const count = el("span", { class: "count" });
    const empty = el("p", { class: "empty quiet" });
    const rows = new Rows({
      label: NAMES[status],
      height: HEIGHTS[status],
      draw: (item) => this.draw(item.task),
      keys: (event, item) => this.press(event, item, status),
    });
    const section = el(
      "section",
      {
        class: `column ${status}`,
        "aria-label": NAMES[status],
        ondragenter: (event) => this.over(event, column),
        ondragover: (event) => this.over(event, column),
        ondragleave: (event) => this.element.contains(event.relatedTarget) || this.mark(null),
        ondrop: (event) => this.drop(event, column),
      },
      el("h2", {}, NAMES[status], " ", count),
      empty,
      rows.box,
    );
    const column = { status, rows, section, count, empty, items: new Map() };
    return column;
  }

  get write() {
    return Boolean(this.board.about?.write);
  }

  draw(task) {
    return el(
      "div",
      {
        class: "card",
        role: "button",
        "data-handle": true,
        "aria-describedby": this.write ? "card-keys" : null,
        draggable: String(this.write),
        onclick: () => this.board.edit(task.id),
        ondragstart: (event) => this.drag(event, task.id),
        ondragend: () => this.mark((this.dragged = null)),
      },
      el("span", { class: "line" }, mark(task), " ", title(task)),
      " ",
      el("span", { class: "foot" }, el("span", { class: "notes" }, notes(this.board.plan, task)), el("span", { class: "avatars" }, avatars(task))),
    );
  }

  drag(event, id) {
    this.dragged = id;
    event.dataTransfer.setData("text/plain", `#${id}`);
    event.dataTransfer.effectAllowed = "move";
    // Make this the current row, which the list never removes: the browser ends a drag only at the row where it began.
    const { rows } = this.at(id);
    rows.current = rows.items.findIndex((item) => item.id === id);
  }

  at(id) {
    return this.columns.find(({ rows }) => rows.items.some((item) => item.id === id));
  }

  over(event, column) {
    if (this.dragged === null) return;
    event.preventDefault();
    event.dataTransfer.dropEffect = "move";
    this.mark(column, column === this.at(this.dragged) ? this.gap(event, column) : null);
  }

  // Returns the gap between two rows that is nearest to the pointer.
  gap(event, { rows }) {
    const place = Math.round((event.clientY - rows.body.getBoundingClientRect().top) / rows.height);
    return Math.max(0, Math.min(place, rows.items.length));
  }

  // Shows where a card would be dropped: the column, and within its own column also the gap.
  mark(column, gap = null) {
    for (const each of this.columns) each.section.classList.toggle("target", each === column);
    if (gap === null) return this.line.remove();
    this.line.style.top = `${gap * column.rows.height - 4}px`;
    return column.rows.box.append(this.line);
  }

  drop(event, column) {
    const id = this.dragged;
    if (id === null) return;
    event.preventDefault();
    this.mark((this.dragged = null));
    if (column !== this.at(id)) this.turn(id, column.status);
    else this.put(id, column.rows.items, this.gap(event, column));
  }

  async turn(id, status) {
    this.followed = { id, status };
    if (!(await this.board.act({ do: "status", task: id, status }))) this.followed = null;
  }

  // Only tasks with the same parent are ordered, so the task is moved beside the nearest of these.
  put(id, items, gap) {
    const siblings = new Set(this.board.plan.siblings(this.board.plan.tasks.get(id)));
    const after = items.slice(0, gap).findLast((item) => siblings.has(item.id));
    const before = items.slice(gap).find((item) => siblings.has(item.id));
    if (after?.id === id || before?.id === id) return;
    if (before) this.board.act({ do: "move", task: id, before: before.id });
    else if (after) this.board.act({ do: "move", task: id, after: after.id });
  }

  press(event, item, status) {
    const up = { ArrowUp: -1, ArrowDown: 1 }[event.key];
    const across = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (event.key === "Enter" || event.key === " ") this.board.edit(item.id);
    else if (event.altKey && up) this.board.shift(item.id, up);
    else if (event.altKey && across && this.write) {
      const next = STATUSES[STATUSES.indexOf(status) + across];
      if (next) this.turn(item.id, next);
    } else if (!event.altKey && across) {
      let place = STATUSES.indexOf(status) + across;
      while (this.columns[place] && !this.columns[place].rows.items.length) place += across;
      this.columns[place]?.rows.focus(this.columns[place].rows.current);
    } else return false;
    event.preventDefault();
    return true;
  }

  show(plan) {
    const by = Object.fromEntries(STATUSES.map((status) => [status, []]));
    for (const task of plan.list()) {
      if (this.board.wanted(task)) by[task.status].push(task);
    }
    for (const { status, rows, section, count, empty, items } of this.columns) {
      const tasks = by[status];
      // A card also shows its blockers and subtasks, which change while the task itself stays the same.
      rows.set(tasks.map((task) => fresh(items, task, `${plan.hint(task)}|${plan.blockers(task)}|${inner(plan, task)}`)));
      count.textContent = tasks.length;
      const small = !tasks.length && SMALL.has(status);
      empty.hidden = tasks.length > 0 || small;
      empty.textContent = (this.write && !this.board.sought && EMPTY[status]) || nothing(this.board);
      section.classList.toggle("small", small);
      section.hidden = small && !this.write;
      rows.body.setAttribute("aria-label", `${NAMES[status]}, ${tasks.length}`);
    }
    this.follow(plan);
  }

  // Moves the focus with a card to its new column, unless the focus has left the columns.
  follow(plan) {
    if (!this.followed || plan.tasks.get(this.followed.id)?.status !== this.followed.status) return;
    const { id } = this.followed;
    this.followed = null;
    const there = document.activeElement;
    if (there !== document.body && !this.element.contains(there)) return;
    for (const { rows } of this.columns) rows.draw_now(); // removes the card from its old column
    this.focus(id);
  }

  focus(id) {
    return this.columns.some(({ rows }) => rows.focusId(id));
  }
}

function inner(plan, task) {
  return (plan.children.get(task.id) ?? []).map((id) => plan.tasks.get(id).status).join(" ");
}
