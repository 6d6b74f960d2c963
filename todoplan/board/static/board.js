// One plan: its views, and a person's changes to it.

import { act, ask, Events, Refused } from "./api.js";
import { Columns } from "./columns.js";
import { el, soon } from "./dom.js";
import { Editor } from "./editor.js";
import { GraphView } from "./graph.js";
import { isClosed, Plan } from "./model.js";
import { Panels } from "./panels.js";
import { Timeline } from "./timeline.js";
import { Tree } from "./tree.js";
import { Views } from "./views.js";

const VIEWS = [["columns", "Board", Columns], ["tree", "Tree", Tree], ["graph", "Graph", GraphView], ["timeline", "Timeline", Timeline]];

export class Board {
  constructor(page, id, about) {
    Object.assign(this, { page, id, about, plan: new Plan(), insight: null, last: null, sought: "", acted: 0, acting: Promise.resolve() });
    this.views = new Views(this, VIEWS);
    this.panels = new Panels(this);
    this.editor = new Editor(this);
    this.summary = el("a", { class: "narrow quiet", href: "#overview" });
    this.head = [this.summary, this.views.list];
    this.tools = about.write ? [this.finder(), this.adder(), el("button", { type: "button", title: "Undo the last change", onclick: () => this.act({ do: "undo" }) }, "Undo", el("span", { class: "unseen" }, " the last change"))] : [this.finder()];
    this.element = el("div", { class: "body" }, this.views.place, this.panels.element, this.editor.element);
    this.paint = soon(() => this.show());
    this.events = new Events("plan", { plan: id }, {
      hear: (kind, data) => this.hear(kind, data),
      state: (...state) => page.connection(...state),
    });
  }

  adder() {
    const subject = el("input", { id: "new-task", "aria-label": "New task", autocomplete: "off", required: true, placeholder: "New task" });
    const add = async (event) => {
      event.preventDefault();
      if (await this.act({ do: "add", subject: subject.value })) subject.value = "";
    };
    return el("form", { class: "oneline", onsubmit: add }, subject, el("button", { class: "main" }, "Add"));
  }

  finder() {
    const sought = () => {
      this.sought = search.value.trim().toLocaleLowerCase();
      this.paint();
    };
    const search = el("input", { id: "search", type: "search", "aria-label": "Find", placeholder: "Find", oninput: sought });
    return search;
  }

  hear(kind, data) {
    if (kind === "trouble") return this.page.refuse(data.message);
    const fresh = this.plan.hear(kind, data);
    if (!fresh) return undefined;
    this.paint();
    this.look();
    return undefined;
  }

  show() {
    const { revision, order, counts, waiting } = this.plan;
    this.page.revision(revision, order.length);
    this.summary.textContent = `${counts.completed}/${order.length}${waiting.length ? `, ${waiting.length} waiting` : ""}`;
    this.views.show();
    this.panels.show(this.plan);
    this.editor.update();
  }

  // Requests the insight (critical path, drift, stuck tasks). The server must walk over the whole plan for it, so the
  // request waits until the plan has not changed for a moment.
  look() {
    clearTimeout(this.looking);
    this.looking = setTimeout(async () => {
      try {
        this.insight = await ask("insight", { plan: this.id });
      } catch {
        return; // requested again after the next change
      }
      this.panels.showInsight(this.insight);
      if (this.views.now === "graph") this.views.show();
    }, 300);
  }

  wanted(task) {
    if (!this.sought) return true;
    const text = `#${task.id} ${task.subject} ${task.owner ?? ""} ${task.description ?? ""}`;
    return text.toLocaleLowerCase().includes(this.sought);
  }

  edit(id) {
    this.editor.show(id);
  }

  back(id) {
    if (id !== null) this.views.focus(id);
  }

  say(text) {
    if (this.editor.open) this.editor.said.textContent = text;
    else this.page.say(text);
  }

  refuse(text) {
    if (this.editor.open) this.editor.refused.textContent = text;
    else this.page.refuse(text);
  }

  // Carries out an action, shows its result, and returns whether it was accepted. Actions are sent one after the other,
  // so that the second of two quick actions knows the revision after the first.
  act(wish) {
    const done = this.acting.then(() => this.actNow(wish));
    this.acting = done.catch(() => {});
    return done;
  }

  async actNow(wish) {
    this.editor.clear();
    this.page.clear();
    // The person has seen their own last change, even if the page does not show it yet.
    const seen = { base: Math.max(this.plan.revision, this.acted), ...wish };
    let done;
    try {
      done = await act(this.id, seen);
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      this.refuse(error.message);
      return false;
    }
    if (!done.accepted) this.refuse(done.message);
    else this.say([done.message, ...done.warnings].join(" — "));
    // If somebody else's change came in between, the person has not seen it.
    if (done.accepted && done.before <= seen.base) this.acted = done.revision;
    return done.accepted;
  }

  shift(id, step) {
    const task = this.plan.tasks.get(id);
    const level = this.plan.siblings(task);
    // Skip siblings that the view does not show beside the task: in a column, cards of other statuses.
    const near = level.filter((each) => each === id || this.views.now !== "columns" || this.plan.tasks.get(each).status === task.status);
    const next = near[near.indexOf(id) + step];
    if (!next || !this.about.write) return undefined;
    return this.act({ do: "move", task: id, [step < 0 ? "before" : "after"]: next });
  }

  get open() {
    return this.plan.list().filter((task) => !isClosed(task));
  }

  stop() {
    this.events.stop();
    clearTimeout(this.looking);
  }
}
