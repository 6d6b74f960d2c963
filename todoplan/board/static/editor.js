// One task in full, and all that a person does to it. Each field is sent by itself, when it is left.

import { left } from "./card.js";
import { el, moment, shown, words } from "./dom.js";

const FIELDS = [
  ["subject", "What is to be done", "input"],
  ["description", "More about it", "textarea"],
  ["active_form", "Active form", "input"],
  ["owner", "Assignee", "input"],
  ["priority", "Priority", ["", "high", "medium", "low"]],
  ["estimate", "Estimate, in minutes", "number"],
  ["check", "What shows that it is done", "input"],
];
const ACTIONS = {
  pending: [["Start", "in_progress"], ["Complete", "completed"], ["Cancel", "cancelled"], ["Fail", "failed"]],
  in_progress: [["Complete", "completed"], ["Fail", "failed"], ["Cancel", "cancelled"], ["Put back", "pending"]],
  completed: [["Reopen", "pending"]],
  failed: [["Reopen", "pending"]],
  cancelled: [["Reopen", "pending"]],
};

export class Editor {
  constructor(board) {
    this.board = board;
    this.head = el("h2", { id: "task-title" });
    this.state = el("div", { class: "state" });
    this.said = el("p", { class: "said", role: "status" });
    this.refused = el("p", { class: "refused", role: "alert" });
    this.actions = el("div", { class: "actions" });
    this.wait = el("div");
    this.fields = new Map();
    this.more = el("div", { class: "more" });
    this.form = el("div", { class: "fields" }, FIELDS.map((field) => this.field(...field)));
    this.element = el(
      "dialog",
      { class: "editor", "aria-labelledby": "task-title", onclose: () => this.closed() },
      el("div", { class: "bar" }, this.head, el("button", { type: "button", "aria-label": "Close", onclick: () => this.element.close() }, "✕")),
      this.state,
      this.refused,
      this.said,
      this.actions,
      this.wait,
      this.form,
      this.more,
    );
    this.id = null;
  }

  get open() {
    return this.element.open;
  }

  field(name, label, kind) {
    const id = `field-${name}`;
    const made = Array.isArray(kind)
      ? el("select", { id }, kind.map((value) => el("option", { value }, value || "none")))
      : el(kind === "textarea" ? "textarea" : "input", { id, autocomplete: "off", dir: "auto", ...(kind === "number" ? { type: "number", min: 0, step: "any" } : {}) });
    const note = el("p", { class: "beside", id: `${id}-note` });
    made.setAttribute("aria-describedby", note.id);
    // Where somebody else has written in between, leaving the field decides nothing.
    made.addEventListener("change", () => note.firstChild || this.save(name));
    made.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && kind !== "textarea") this.save(name);
    });
    this.fields.set(name, { made, note, base: "", sent: null });
    return el("div", { class: "field" }, el("label", { for: id }, label), made, note);
  }

  show(id) {
    const task = this.board.plan.tasks.get(id);
    if (!task) return;
    this.id = id;
    this.board.last = id;
    this.clear();
    for (const [name, field] of this.fields) this.fill(field, text(task[name]));
    this.update();
    if (!this.open) this.element.showModal();
  }

  clear() {
    this.said.textContent = "";
    this.refused.textContent = "";
  }

  fill(field, value) {
    field.base = value;
    field.made.value = value;
    field.note.replaceChildren();
  }

  closed() {
    const id = this.id;
    this.id = null;
    this.board.back(id);
  }

  // What others do to the task shows at once, but for a field in which somebody is writing.
  update() {
    if (this.id === null) return;
    const plan = this.board.plan;
    const task = plan.tasks.get(this.id);
    const write = this.board.about.write;
    if (!task) {
      this.refused.textContent = "Somebody has removed this task.";
      this.actions.replaceChildren();
      this.more.replaceChildren();
      this.wait.replaceChildren();
      return;
    }
    this.head.replaceChildren(`#${task.id} `, el("span", { dir: "auto" }, shown(task.subject, 200)));
    for (const [name, field] of this.fields) this.beside(name, field, text(task[name]));
    for (const { made } of this.fields.values()) made.disabled = !write;
    this.state.replaceChildren(...this.facts(plan, task));
    this.focused(this.actions, () => this.actions.replaceChildren(...(write ? this.buttons(plan, task) : [])));
    this.showWait(task, write);
    this.focused(this.more, () => this.more.replaceChildren(...(write ? this.further(plan, task) : [])));
  }

  beside(name, field, now) {
    const writing = field.made.value !== field.base && field.made.value !== field.sent;
    if (!writing) {
      if (now !== field.base || field.sent !== null) this.fill(field, now);
      field.sent = null;
      return;
    }
    if (now === field.base) return;
    const row = [...this.board.plan.rows].reverse().find((each) => each.tasks.includes(this.id));
    const who = shown(row?.actor, 40) || "Somebody";
    field.note.replaceChildren(
      `${who} has set this to “${shown(now, 300) || "nothing"}” in the meantime. `,
      el("button", { type: "button", onclick: () => this.fill(field, now) }, "Take theirs"),
      " ",
      el("button", { type: "button", onclick: () => this.save(name) }, "Keep mine"),
    );
  }

  facts(plan, task) {
    const hint = plan.hint(task);
    const blockers = plan.blockers(task);
    const lines = [
      `${words(task.status)}${hint ? `, ${hint}` : ""}${blockers.length ? ` (after ${blockers.map((id) => `#${id}`).join(", ")})` : ""}`,
      task.parent && `within #${task.parent}`,
      task.claim && `claimed by ${shown(task.claim.owner, 60)}, ${left(task.claim.until)}`,
      task.answer && `answered: ${shown(task.answer, 600)}`,
      task.evidence && `${task.evidence.passed ? "check passed" : "check failed"}: ${shown(task.evidence.summary, 300)}`,
      [task.created_at && `made ${moment(task.created_at)}`, task.started_at && `started ${moment(task.started_at)}`, task.completed_at && `completed ${moment(task.completed_at)}`].filter(Boolean).join(", "),
    ];
    return lines.filter(Boolean).map((line) => el("p", { dir: "auto" }, line));
  }

  // Buttons are made anew with every change: whoever stands on one is put on its successor.
  focused(place, make) {
    const had = place.contains(document.activeElement) ? document.activeElement : null;
    const label = had?.textContent;
    const draft = had?.tagName === "INPUT" ? [had.id, had.value] : null;
    make();
    if (!had) return;
    const next = draft ? place.querySelector(`#${draft[0]}`) : [...place.querySelectorAll("button")].find((each) => each.textContent === label);
    if (draft && next) next.value = draft[1];
    (next ?? this.head.parentElement.querySelector("button")).focus();
  }

  buttons(plan, task) {
    const made = ACTIONS[task.status].map(([label, status]) =>
      el("button", { type: "button", onclick: () => this.act({ do: "status", status }) }, label),
    );
    if (task.claim) {
      made.push(el("button", { type: "button", onclick: () => this.act({ do: "release", fence: task.claim.fence }) }, "Take the claim away"));
    }
    return made;
  }

  showWait(task, write) {
    const said = JSON.stringify([task.id, task.waiting ?? null, task.status, write]);
    if (said === this.waitSaid) return;
    this.waitSaid = said;
    if (!write || task.status !== "pending") {
      this.wait.replaceChildren();
      return;
    }
    const reason = el("input", { id: "wait-for", autocomplete: "off", required: true });
    if (!task.waiting) {
      this.wait.replaceChildren(this.line("wait-for", "It waits for", reason, "Pause", () => ({ do: "wait", reason: reason.value })));
      return;
    }
    const { question } = task.waiting;
    this.wait.replaceChildren(
      el("p", { dir: "auto" }, `It waits for ${shown(task.waiting.reason, 300) || "something"}.`),
      ...(question ? [el("p", { class: "question", dir: "auto" }, shown(question, 2000))] : []),
      this.line("wait-for", "Answer", reason, "Answer", () => ({ do: "answer", answer: reason.value })),
      el("button", { type: "button", onclick: () => this.act({ do: "resume" }) }, "It need not wait"),
    );
  }

  line(id, label, input, action, make) {
    return el(
      "form",
      {
        class: "oneline",
        onsubmit: async (event) => {
          event.preventDefault();
          if (await this.act(make())) input.value = "";
        },
      },
      el("label", { for: id }, label),
      input,
      el("button", {}, action),
    );
  }

  further(plan, task) {
    const level = plan.siblings(task);
    const place = level.indexOf(task.id);
    const sub = el("input", { id: "new-subtask", autocomplete: "off", required: true });
    const after = el("input", { id: "new-blocker", autocomplete: "off", required: true, inputmode: "numeric" });
    const number = () => after.value.trim().replace(/^#/, "");
    const open = (task.blocked_by ?? []).filter((id) => plan.tasks.has(id));
    return [
      el("h3", {}, "Order, subtasks, what comes first"),
      el(
        "div",
        { class: "actions" },
        el("button", { type: "button", disabled: place <= 0, onclick: () => this.board.shift(task.id, -1) }, "Move up"),
        el("button", { type: "button", disabled: place >= level.length - 1, onclick: () => this.board.shift(task.id, 1) }, "Move down"),
        el("button", { type: "button", class: "danger", onclick: () => this.act({ do: "remove" }) }, "Remove"),
      ),
      this.line("new-subtask", "New subtask", sub, "Add", () => ({ do: "add", subject: sub.value, parent: task.id })),
      this.line("new-blocker", "It comes after task", after, "Link", () => ({ do: "link", blocker: number() })),
      open.length > 0 &&
        el("ul", {}, open.map((id) => el("li", {}, `after #${id} ${shown(plan.tasks.get(id).subject, 60)} `, el("button", { type: "button", onclick: () => this.act({ do: "unlink", blocker: id }) }, `Unlink #${id}`)))),
    ].filter(Boolean);
  }

  act(wish) {
    return this.board.act({ task: this.id, ...wish });
  }

  async save(name) {
    const field = this.fields.get(name);
    const value = field.made.value;
    if (value === field.base || value === field.sent || this.id === null) return;
    field.sent = value;
    const number = name === "estimate" && value !== "";
    const done = await this.act({ do: "edit", field: name, value: number ? Number(value) : value });
    if (!done) {
      field.sent = null;
      return;
    }
    field.base = value;
    field.note.replaceChildren();
    if (field.made.value === value) field.sent = value;
  }
}

function text(value) {
  return value === undefined || value === null ? "" : String(value);
}
