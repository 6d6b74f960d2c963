// The history of a plan in a report: a slider, and for each step the tasks, the graph and what was done.

import { whole } from "./card.js";
import { el, put, shown } from "./dom.js";
import { chosen, drawn } from "./graph.js";
import { Plan } from "./model.js";
import { Tree } from "./tree.js";

class Life {
  constructor(place, data) {
    Object.assign(this, { place, data, plan: new Plan(), at: -1, last: null });
    this.slider = el("input", { type: "range", min: 0, max: data.steps.length, step: 1, "aria-label": "Step", oninput: () => this.go(Number(this.slider.value)) });
    this.said = el("p", { class: "moment", role: "status" });
    this.found = el("ul");
    this.task = el("p", { class: "quiet", role: "status" });
    this.counts = el("p", { class: "quiet" });
    this.tree = new Tree(this);
    this.graph = el("div", { class: "scroll drawing", tabindex: 0, role: "region", "aria-label": "Dependency graph" });
    const step = (by, label) => el("button", { type: "button", "aria-label": label, onclick: () => this.go(this.at + by) }, by < 0 ? "◂" : "▸");
    put(
      place,
      el("h2", {}, "History"),
      el("div", { class: "steps" }, step(-1, "Previous step"), this.slider, step(1, "Next step")),
      this.said,
      this.found,
      this.counts,
      this.tree.element,
      this.task,
      this.graph,
    );
    place.hidden = false;
    this.go(data.steps.length);
  }

  go(step) {
    const next = Math.max(0, Math.min(step, this.data.steps.length));
    if (next < this.at || this.at < 0) {
      this.plan = new Plan();
      this.plan.hear("snapshot", this.data.start);
      this.at = 0;
    }
    let changed = [];
    while (this.at < next) {
      const { change } = this.data.steps[this.at];
      this.plan.hear("change", { ...change, revision: this.plan.revision + 1, rows: [] });
      changed = change.tasks.map((task) => task.id);
      this.at += 1;
    }
    this.show(changed);
  }

  show(changed) {
    const now = this.data.steps[this.at - 1];
    const { counts } = this.plan;
    this.slider.value = this.at;
    this.slider.setAttribute("aria-valuetext", `step ${this.at} of ${this.data.steps.length}`);
    this.said.textContent = now ? `Step ${this.at} of ${this.data.steps.length}: ${shown(now.said, 600)}` : "Before the first step";
    put(this.found, (now?.findings ?? []).map(({ code, text, error }) => el("li", { class: error ? "finding error" : "finding" }, el("b", {}, error ? `${code} (error)` : code), " ", shown(text, 1000))));
    this.counts.textContent = `${counts.completed}/${this.plan.order.length} completed, ${counts.in_progress} in progress, ${this.plan.ready.size} ready`;
    this.tree.show(this.plan);
    const { ids, of } = chosen(this.plan, changed[0]);
    this.graph.hidden = !of;
    put(this.graph, of > 0 && drawn(this.plan, { ids, changed: new Set(changed) }));
    this.marked?.removeAttribute("aria-current");
    this.marked = document.getElementById(now?.item);
    this.marked?.setAttribute("aria-current", "step");
  }

  wanted() {
    return true;
  }

  edit(id) {
    this.task.textContent = whole(this.plan.tasks.get(id));
  }

  shift() {}
}

for (const place of document.querySelectorAll(".life")) {
  new Life(place, JSON.parse(document.getElementById(place.dataset.of).textContent));
}
