// The panels beside the tasks: progress, waiting tasks, claims, drift and critical path.

import { avatars, left, waitsFor } from "./card.js";
import { el, moment, put, shown, words } from "./dom.js";
import { NAMES, STATUSES } from "./model.js";

const MOST = 50;
const KINDS = { came: "Added", went: "Removed", changed: "Changed" };

export class Panels {
  constructor(board) {
    this.board = board;
    this.progress = el("section", { class: "panel", "aria-labelledby": "how-far" });
    this.waiting = el("section", { class: "panel", "aria-labelledby": "waits" });
    this.claims = el("section", { class: "panel", "aria-labelledby": "claims" });
    this.path = el("section", { class: "panel", "aria-labelledby": "path" });
    this.drift = el("section", { class: "panel", "aria-labelledby": "drift" });
    this.element = el("aside", { class: "panels", id: "overview", "aria-label": "About the plan" }, this.waiting, this.progress, this.claims, this.path, this.drift);
    this.asked = new Map();
    setInterval(() => this.tick(), 1000);
  }

  link(id, text = "") {
    return el("button", { type: "button", class: "link", onclick: () => this.board.edit(id) }, `#${id}`, " ", el("span", { dir: "auto" }, shown(text, 80)));
  }

  show(plan) {
    const total = plan.order.length;
    const resolved = plan.counts.completed + plan.counts.cancelled;
    put(
      this.progress,
      el("h2", { id: "how-far" }, "Progress"),
      el("progress", { max: total || 1, value: resolved, "aria-label": "Completed or cancelled" }),
      el(
        "dl",
        { class: "counts" },
        [...STATUSES.map((status) => [NAMES[status], plan.counts[status]]), ["Ready", plan.ready.size], ["Waiting", plan.waiting.length], ["All", total]].map(
          ([name, count]) => el("div", {}, el("dt", {}, name), el("dd", {}, count)),
        ),
      ),
    );
    this.showWaiting(plan);
    this.claims.hidden = !plan.claimed.length;
    put(
      this.claims,
      el("h2", { id: "claims" }, "Claims"),
      el("ul", {}, plan.claimed.slice(0, MOST).map((task) => this.claim(task))),
    );
  }

  claim(task) {
    const time = el("span", { class: "left", "data-until": task.claim.until ?? "" }, left(task.claim.until));
    return el("li", {}, this.link(task.id, task.subject), el("p", { class: "who" }, el("span", { "aria-hidden": "true" }, avatars({ claim: task.claim })), el("span", {}, `held by ${shown(task.claim.owner, 60)}, `, time)));
  }

  tick() {
    for (const each of this.claims.querySelectorAll(".left")) each.textContent = left(each.dataset.until);
  }

  // The items stay in the page: the person may be writing an answer while the plan changes.
  showWaiting(plan) {
    this.waiting.hidden = !plan.waiting.length;
    if (!this.waiting.firstChild) {
      this.list = el("ul");
      this.waiting.append(el("h2", { id: "waits" }, "Waiting on"), this.list);
    }
    const shownNow = plan.waiting.slice(0, MOST);
    const ids = new Set(shownNow.map((task) => task.id));
    for (const [id, { item }] of this.asked) {
      if (!ids.has(id)) {
        item.remove();
        this.asked.delete(id);
      }
    }
    for (const task of shownNow) {
      const said = JSON.stringify([task.waiting, task.subject]);
      const known = this.asked.get(task.id);
      if (known?.said === said) continue;
      const item = this.wait(task);
      if (known) known.item.replaceWith(item);
      else this.list.append(item);
      this.asked.set(task.id, { item, said });
    }
  }

  wait(task) {
    const { question, until } = task.waiting;
    const field = el("input", { "aria-label": `Answer for #${task.id}`, autocomplete: "off", required: true });
    const form = el(
      "form",
      {
        class: "answer",
        onsubmit: async (event) => {
          event.preventDefault();
          if (await this.board.act({ do: "answer", task: task.id, answer: field.value })) field.value = "";
        },
      },
      field,
      el("button", {}, "Answer"),
    );
    return el(
      "li",
      {},
      this.link(task.id, task.subject),
      el("p", { dir: "auto" }, `for ${waitsFor(task.waiting)}`),
      until && el("p", { class: "quiet" }, `until ${moment(until)}`),
      question && el("p", { class: "question", dir: "auto" }, shown(question, 600)),
      this.board.about.write && form,
    );
  }

  showInsight(insight) {
    const plan = this.board.plan;
    const path = insight.path.filter((id) => plan.tasks.has(id));
    this.path.hidden = path.length < 2;
    put(
      this.path,
      el("h2", { id: "path" }, "Critical path"),
      el("p", { class: "quiet" }, `${path.length} tasks${insight.minutes ? `, ${Math.round(insight.minutes)} minutes` : ""}`),
      el("ol", {}, path.slice(0, 20).map((id) => el("li", {}, this.link(id, plan.tasks.get(id).subject)))),
      path.length > 20 && el("p", { class: "quiet" }, `and ${path.length - 20} more`),
    );
    this.showDrift(insight.drift);
  }

  showDrift(drift) {
    const by = drift.approved?.by ? ` by ${shown(drift.approved.by, 40)}` : "";
    const rows = Object.keys(KINDS).flatMap((kind) =>
      (drift[kind] ?? []).slice(0, MOST).map(({ task, subject, actor, fields }) => {
        const changes = fields.length ? `: ${fields.map(words).join(", ")}` : "";
        const who = actor ? ` (${shown(actor, 40)})` : "";
        const there = this.board.plan.tasks.has(task);
        return el("li", { class: kind }, el("b", {}, KINDS[kind]), " ", there ? this.link(task, subject) : `#${task} ${shown(subject, 80)}`, `${changes}${who}`);
      }),
    );
    put(
      this.drift,
      el("h2", { id: "drift" }, "Changes since approval"),
      drift.approved && el("p", { class: "quiet" }, `revision ${drift.approved.revision}${by}`),
      drift.message && el("p", {}, shown(drift.message, 400)),
      el("ul", {}, rows),
      this.board.about.write && el("button", { type: "button", onclick: () => this.board.act({ do: "approve" }) }, "Approve the plan as it is"),
    );
  }
}
