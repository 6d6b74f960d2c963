// All fields of one task, and the actions on it. A field is sent by itself when the person leaves it.

import { avatars, left, notes, waitsFor } from "./card.js";
import { el, moment, put, shown } from "./dom.js";
import { NAMES } from "./model.js";

// The fields in order, each with its section, its label, and the type of its input if the server's type is not used.
// The server names all fields. A field that is missing here goes to the section "More", with its name as the label.
const FIELDS = {
  subject: ["Task", "Title", "text"],
  description: ["Task", "Description"],
  check: ["Task", "How to check that it is done"],
  owner: ["Planning", "Assignee"],
  priority: ["Planning", "Priority"],
  estimate: ["Planning", "Estimate, in minutes"],
  due: ["Planning", "Due"],
  active_form: ["More", "Active form"],
};
const ACTIONS = {
  pending: [["Start", "in_progress"], ["Complete", "completed"], ["Cancel", "cancelled"], ["Fail", "failed"]],
  in_progress: [["Complete", "completed"], ["Fail", "failed"], ["Cancel", "cancelled"], ["Move to To do", "pending"]],
  completed: [["Reopen", "pending"]],
  failed: [["Reopen", "pending"]],
  cancelled: [["Reopen", "pending"]],
};
const LATEST = 8;

export class Editor {
  constructor(board) {
    this.board = board;
    this.head = el("h2", { id: "task-title" });
    this.state = el("div", { class: "state" });
    this.said = el("p", { class: "said", role: "status" });
    this.refused = el("p", { class: "refused", role: "alert" });
    this.actions = el("div", { class: "actions" });
    this.wait = el("div");
    this.proof = el("div");
    this.links = el("div");
    this.order = el("div", { class: "actions" });
    this.activity = el("ol");
    this.fields = new Map();
    const missing = Object.keys(board.about.fields).filter((name) => !(name in FIELDS));
    this.rows = { ...FIELDS, ...Object.fromEntries(missing.map((name) => [name, ["More", labelOf(name)]])) };
    this.element = el(
      "dialog",
      {
        class: "editor",
        "aria-labelledby": "task-title",
        onclose: () => this.closed(),
        onclick: (event) => event.target === this.element && this.element.close(),
      },
      el(
        "div",
        { class: "sheet" },
        el("div", { class: "bar" }, this.head, el("button", { type: "button", "aria-label": "Close", onclick: () => this.element.close() }, "✕")),
        this.refused,
        this.said,
        this.section("Status", this.state, this.proof, this.actions, this.wait),
        this.section("Task"),
        this.section("Planning"),
        this.section("Subtasks and dependencies", this.links),
        this.section("Activity", this.activity),
        this.section("More", this.order),
      ),
    );
    this.id = null;
  }

  section(name, ...children) {
    const fields = Object.keys(this.rows).filter((field) => this.rows[field][0] === name);
    return el("section", { "aria-label": name }, el("h3", {}, name), fields.length > 0 && el("div", { class: `fields ${name}` }, fields.map((field) => this.field(field))), children);
  }

  get open() {
    return this.element.open;
  }

  field(name) {
    const [, label, kind = this.board.about.fields[name]] = this.rows[name];
    const id = `field-${name}`;
    const long = kind === "textarea";
    const number = kind === "number" ? { min: 0, step: "any" } : {};
    const made = Array.isArray(kind)
      ? el("select", { id }, kind.map((value) => el("option", { value }, value || "none")))
      : el(long ? "textarea" : "input", { id, type: long ? null : kind, autocomplete: "off", dir: "auto", ...number });
    const note = el("p", { class: "beside", id: `${id}-note` });
    made.setAttribute("aria-describedby", note.id);
    // If somebody else has changed the field meanwhile (there is a note), leaving it saves nothing: the person chooses.
    // A date input sends `change` for each digit of the year, so it is saved when it loses the focus.
    made.addEventListener(kind === "date" ? "blur" : "change", () => note.firstChild || this.save(name));
    made.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && !long) this.save(name);
    });
    this.fields.set(name, { made, note, base: "", sent: null });
    return el("div", { class: `field ${name}` }, el("label", { for: id }, label), made, note);
  }

  show(id) {
    const task = this.board.plan.tasks.get(id);
    if (!task) return;
    this.id = id;
    this.board.last = id;
    this.clear();
    for (const [name, field] of this.fields) this.fill(field, text(task[name]));
    this.update();
    if (this.open) return;
    this.opener = document.activeElement;
    this.element.showModal();
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

  // The browser first returns the focus to the opener, and sends `close` later. A focus that is elsewhere by then stays.
  closed() {
    const id = this.id;
    this.id = null;
    if ([this.opener, document.body].includes(document.activeElement)) this.board.back(id);
  }

  // Shows changes by others at once, except in a field that the person is editing.
  update() {
    if (this.id === null) return;
    const plan = this.board.plan;
    const task = plan.tasks.get(this.id);
    const write = this.board.about.write;
    if (!task) {
      this.refused.textContent = "Somebody has removed this task.";
      for (const part of [this.actions, this.wait, this.links, this.order]) part.replaceChildren();
      return;
    }
    this.head.replaceChildren(`#${task.id} `, el("span", { dir: "auto" }, shown(task.subject, 200)));
    for (const [name, field] of this.fields) this.beside(name, field, text(task[name]));
    for (const { made } of this.fields.values()) made.disabled = !write;
    put(this.state, this.facts(plan, task));
    put(this.proof, this.found(task));
    put(this.activity, this.latest(plan, task));
    this.focused(this.actions, () => this.actions.replaceChildren(...(write ? this.buttons(plan, task) : [])));
    this.showWait(task, write);
    this.focused(this.links, () => put(this.links, this.linked(plan, task, write)));
    this.focused(this.order, () => put(this.order, write && this.placing(plan, task)));
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
    const lines = [
      task.claim && `held by ${shown(task.claim.owner, 60)}, ${left(task.claim.until)}`,
      task.answer && `Answered: ${shown(task.answer, 600)}`,
      [["created", task.created_at], ["started", task.started_at], ["completed", task.completed_at]].flatMap(([what, at]) => (at ? `${what} ${moment(at)}` : [])).join(", "),
    ];
    return [
      el("p", { class: "notes" }, el("span", { class: `note status ${task.status}` }, NAMES[task.status]), " ", notes(plan, task), avatars(task)),
      ...lines.filter(Boolean).map((line) => el("p", { dir: "auto" }, line)),
    ];
  }

  // The whole result of a check or a worker.
  found({ evidence }) {
    if (!evidence) return [];
    const result = [evidence.passed ? "Passed" : "Failed", evidence.by && `by ${shown(evidence.by, 60)}`, evidence.at && moment(evidence.at)].filter(Boolean).join(", ");
    return [el("p", { class: "quiet" }, result), evidence.summary && el("p", { class: evidence.passed ? "proof" : "proof bad", dir: "auto" }, shown(evidence.summary, 2000))];
  }

  latest(plan, task) {
    const rows = plan.rows.filter((row) => row.tasks.includes(task.id)).slice(-LATEST).reverse();
    return rows.map((row) => {
      const what = [row.undoes && `undid revision ${row.undoes}`, ...row.what].filter(Boolean).join("; ");
      return el("li", { dir: "auto" }, el("b", {}, shown(row.actor, 40) || "somebody"), ` ${shown(what, 240)} `, el("span", { class: "quiet" }, moment(row.at)));
    });
  }

  // Each change makes new buttons and inputs. So the focus, and a text that was not sent yet, move to their successors.
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
    const made = ACTIONS[task.status].map(([label, status], place) =>
      el("button", { type: "button", class: place ? null : "main", onclick: () => this.act({ do: "status", status }) }, label),
    );
    if (task.claim) {
      made.push(el("button", { type: "button", onclick: () => this.act({ do: "release", fence: task.claim.fence }) }, "Release the claim"));
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
      this.wait.replaceChildren(this.line("wait-for", "Wait for", reason, "Pause", () => ({ do: "wait", reason: reason.value })));
      return;
    }
    const { question } = task.waiting;
    this.wait.replaceChildren(
      el("p", { dir: "auto" }, `Waiting for ${waitsFor(task.waiting, 300)}.`),
      ...(question ? [el("p", { class: "question", dir: "auto" }, shown(question, 2000))] : []),
      this.line("wait-for", "Answer", reason, "Answer", () => ({ do: "answer", answer: reason.value })),
      el("button", { type: "button", onclick: () => this.act({ do: "resume" }) }, "Resume"),
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

  linked(plan, task, write) {
    const sub = el("input", { id: "new-subtask", autocomplete: "off", required: true });
    const after = el("input", { id: "new-blocker", autocomplete: "off", required: true, inputmode: "numeric", placeholder: "#3" });
    const number = () => after.value.trim().replace(/^#/, "");
    const link = (word, id, ...more) => el("li", {}, `${word} `, this.board.panels.link(id, plan.tasks.get(id).subject), " ", more);
    const unlink = (id) => write && el("button", { type: "button", "aria-label": `Unlink #${id}`, onclick: () => this.act({ do: "unlink", blocker: id }) }, "Unlink");
    const known = (ids) => (ids ?? []).filter((id) => plan.tasks.has(id));
    return [
      el("ul", {}, [
        known([task.parent]).map((id) => link("Subtask of", id)),
        known(plan.children.get(task.id)).map((id) => link(`${NAMES[plan.tasks.get(id).status]}:`, id)),
        known(task.blocked_by).map((id) => link("Blocked by", id, unlink(id))),
        known(task.blocks).map((id) => link("Blocks", id)),
      ].flat()),
      write && this.line("new-subtask", "New subtask", sub, "Add", () => ({ do: "add", subject: sub.value, parent: task.id })),
      write && this.line("new-blocker", "Blocked by task", after, "Link", () => ({ do: "link", blocker: number() })),
    ];
  }

  placing(plan, task) {
    const level = plan.siblings(task);
    const place = level.indexOf(task.id);
    return [
      el("button", { type: "button", disabled: place <= 0, onclick: () => this.board.shift(task.id, -1) }, "Move up"),
      el("button", { type: "button", disabled: place >= level.length - 1, onclick: () => this.board.shift(task.id, 1) }, "Move down"),
      el("button", { type: "button", class: "danger", onclick: () => this.act({ do: "remove" }) }, "Remove"),
    ];
  }

  act(wish) {
    return this.board.act({ task: this.id, ...wish });
  }

  async save(name) {
    const field = this.fields.get(name);
    const value = field.made.value;
    if (value === field.base || value === field.sent || this.id === null) return;
    field.sent = value;
    const number = field.made.type === "number" && value !== "";
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

function labelOf(name) {
  const words = name.replaceAll("_", " ");
  return words[0].toUpperCase() + words.slice(1);
}

function text(value) {
  return value === undefined || value === null ? "" : String(value);
}
