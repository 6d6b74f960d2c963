// The timeline: the entries of the journal, newest first.

import { ask } from "./api.js";
import { el, moment, shown } from "./dom.js";
import { Rows } from "./rows.js";

export class Timeline {
  constructor(board) {
    this.board = board;
    this.items = new Map();
    this.older = el("button", { type: "button", onclick: () => this.more() }, "Show earlier");
    this.rows = new Rows({ label: "Timeline, newest first", height: 58, draw: ({ row }) => this.draw(row) });
    this.element = el("div", { class: "timeline" }, this.rows.box, this.older);
  }

  draw(row) {
    const undone = row.undoes ? `undid revision ${row.undoes}` : "";
    const what = [undone, ...row.what].filter(Boolean).join("; ") || "renewed a claim";
    const known = row.tasks.find((id) => this.board.plan.tasks.has(id));
    const open = () => (known ? this.board.edit(known) : this.board.say("That task is gone."));
    return el(
      "button",
      { type: "button", class: "entry", "data-handle": true, onclick: open },
      el("span", { class: "line" }, el("b", {}, shown(row.actor, 40) || "somebody"), " ", el("span", { class: "text", dir: "auto" }, shown(what, 240))),
      el("span", { class: "quiet" }, `${moment(row.at)} · revision ${row.revision} · ${shown(row.cause, 40)}`),
    );
  }

  show(plan) {
    this.rows.set(
      plan.rows
        .map((row) => {
          if (this.items.get(row.revision)?.row !== row) this.items.set(row.revision, { id: String(row.revision), row });
          return this.items.get(row.revision);
        })
        .reverse(),
    );
    this.older.hidden = !plan.earlier;
  }

  async more() {
    const plan = this.board.plan;
    const before = plan.rows[0]?.revision ?? plan.revision + 1;
    const { rows, earlier } = await ask("history", { plan: this.board.id, before });
    plan.rows = [...rows, ...plan.rows];
    plan.earlier = earlier;
    this.show(plan);
    this.board.say(`${rows.length} more`);
  }

  focus() {
    return false;
  }
}
