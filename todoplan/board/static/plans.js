// The list of all plans of the store, updated live.

import { Events } from "./api.js";
import { el, shown } from "./dom.js";
import { Rows } from "./rows.js";

export class Plans {
  constructor(page) {
    this.page = page;
    this.rows = new Rows({
      label: "Plans",
      height: 62,
      draw: ({ plan }) => this.draw(plan),
    });
    this.empty = el("p", { class: "empty quiet" }, "No plan is here yet. Let an agent write one, or run ", el("code", {}, 'todoplan add "Write it"'), ": it shows here at once.");
    this.empty.hidden = true; // until the first answer, it is unknown whether there are plans
    this.element = el("section", { class: "plans", "aria-label": "All plans" }, this.empty, this.rows.box);
    this.events = new Events("plans", {}, {
      hear: (kind, data) => {
        if (kind !== "plans") return page.refuse(data.message);
        this.empty.hidden = data.plans.length > 0;
        this.rows.set(data.plans.map((plan) => ({ id: plan.plan, plan })));
      },
      state: (...state) => page.connection(...state),
    });
  }

  draw(plan) {
    return el(
      "a",
      { class: "entry", "data-handle": true, href: `?${new URLSearchParams({ plan: plan.plan })}`, onclick: (event) => this.page.follow(event) },
      el("b", { dir: "auto" }, shown(plan.plan, 120) || "(no name)"),
      " ",
      ...(plan.trouble ? [el("span", { class: "quiet" }, shown(plan.trouble, 300))] : progress(plan)),
    );
  }

  stop() {
    this.events.stop();
  }
}

function progress(plan) {
  const { total, resolved } = counted(plan.counts);
  return [
    el("progress", { max: total || 1, value: resolved, "aria-label": "Completed or cancelled" }),
    el("span", { class: "quiet" }, plan.message),
  ];
}

function counted(counts) {
  const total = Object.values(counts).reduce((sum, count) => sum + count, 0);
  return { total, resolved: counts.completed + counts.cancelled };
}
