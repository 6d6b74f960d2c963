// One task in few words, the same in every view.

import { el, shown, words } from "./dom.js";

const MARKS = { pending: "○", in_progress: "◐", completed: "●", failed: "✕", cancelled: "–" };

export function mark(task) {
  return el("span", { class: `mark ${task.status}`, "aria-hidden": "true" }, MARKS[task.status]);
}

export function left(until, now = Date.now()) {
  if (!until) return "without an end";
  const seconds = Math.round((new Date(until) - now) / 1000);
  if (seconds <= 0) return "run out";
  if (seconds < 90) return `${seconds} s left`;
  const minutes = Math.round(seconds / 60);
  return minutes < 90 ? `${minutes} min left` : `${Math.round(minutes / 60)} h left`;
}

export function notes(plan, task) {
  const found = [];
  const hint = plan.hint(task);
  if (hint) found.push(el("span", { class: `note ${hint}` }, hint));
  const blockers = plan.blockers(task);
  if (hint === "blocked" && blockers.length) {
    found.push(el("span", { class: "note" }, `after ${blockers.slice(0, 3).map((id) => `#${id}`).join(", ")}`));
  }
  if (task.priority) found.push(el("span", { class: `note ${task.priority}` }, task.priority));
  if (task.owner) found.push(el("span", { class: "note" }, shown(task.owner, 24)));
  if (task.claim) found.push(el("span", { class: "note claim" }, `claimed by ${shown(task.claim.owner, 24)}`));
  if (task.evidence) found.push(el("span", { class: "note" }, task.evidence.passed ? "check passed" : "check failed"));
  const inner = plan.children.get(task.id);
  if (inner) {
    const done = inner.filter((id) => plan.tasks.get(id).status === "completed").length;
    found.push(el("span", { class: "note" }, `${done}/${inner.length} within`));
  }
  return found;
}

export function title(task) {
  return [
    el("span", { class: "id" }, `#${task.id}`),
    " ",
    el("span", { class: "text", dir: "auto" }, shown(task.subject, 200) || "(no text)"),
    el("span", { class: "unseen" }, `, ${words(task.status)}`),
  ];
}

// One task in a line of text, where a page has no place of its own for it.
export function whole(task) {
  return [`#${task.id} ${shown(task.subject, 500)}`, task.owner && `for ${shown(task.owner)}`, shown(task.description, 2000)].filter(Boolean).join(" · ");
}

// The item of a list for a task: the same one as long as nothing that is said of it has changed.
export function fresh(items, task, said) {
  const known = items.get(task.id);
  if (known && known.task === task && known.said === said) return known;
  const item = { id: task.id, task, said };
  items.set(task.id, item);
  return item;
}
