// A short form of one task, the same in every view.

import { el, shown } from "./dom.js";
import { isClosed, NAMES } from "./model.js";

const MARKS = { pending: "○", in_progress: "◐", completed: "●", failed: "✕", cancelled: "–" };

export function mark(task) {
  return el("span", { class: `mark ${task.status}`, "aria-hidden": "true" }, MARKS[task.status]);
}

export function left(until, now = Date.now()) {
  if (!until) return "no time limit";
  const seconds = Math.round((new Date(until) - now) / 1000);
  if (seconds <= 0) return "expired";
  if (seconds < 90) return `${seconds} s left`;
  const minutes = Math.round(seconds / 60);
  return minutes < 90 ? `${minutes} min left` : `${Math.round(minutes / 60)} h left`;
}

// The reason of a wait without a leading "for", because people write both "for ann" and "ann".
export function waitsFor({ reason }, most = 200) {
  return shown(reason, most).replace(/^(waiting )?for /i, "") || "something";
}

// Why a task or its last attempt failed; "" if nothing failed.
export function failure({ evidence }) {
  if (!evidence || evidence.passed) return "";
  return `failed: ${shown(evidence.summary, 600).replace(/^attempt (\d+) failed/, "attempt $1") || "its check"}`;
}

// When a task is due. It is overdue after the end of that day.
function due(task, now = new Date()) {
  if (!task.due) return null;
  const at = new Date(`${task.due}T23:59:59`);
  const year = at.getFullYear() === now.getFullYear() ? undefined : "numeric";
  const late = !isClosed(task) && at < now;
  return { text: `${late ? "overdue" : "due"} ${at.toLocaleDateString([], { day: "numeric", month: "short", year })}`, late };
}

function hintOf(plan, task, hint) {
  if (hint === "waiting") return `waiting for ${waitsFor(task.waiting, 24)}`;
  const blockers = plan.blockers(task);
  if (hint !== "blocked" || !blockers.length) return hint;
  return `blocked by ${blockers.slice(0, 3).map((id) => `#${id}`).join(", ")}${blockers.length > 3 ? " …" : ""}`;
}

function checked(task) {
  if (task.evidence?.passed) return "verified";
  return task.status === "completed" && task.check ? "unverified" : "";
}

export function notes(plan, task) {
  const hint = plan.hint(task);
  const when = due(task);
  const why = failure(task);
  const proof = checked(task);
  const tags = [task.metadata?.tags ?? []].flat().filter((tag) => typeof tag === "string");
  const tries = task.status === "in_progress" ? task.failed_attempts : 0;
  const within = plan.children.get(task.id);
  const done = within?.filter((id) => plan.tasks.get(id).status === "completed").length;
  return [
    why && [why, "why"],
    hint && [hintOf(plan, task, hint), hint],
    task.claim && [`held by ${shown(task.claim.owner, 24)}`, "claim"],
    proof && [proof, proof],
    tries > 0 && [`attempt ${tries + 1}`, "attempt"],
    when && [when.text, when.late ? "label late" : "label due"],
    task.priority && [task.priority, `label ${task.priority}`],
    ...tags.slice(0, 3).map((tag) => [shown(tag, 20), "label"]),
    within && [`${done}/${within.length} subtasks`, "within"],
  ]
    .filter(Boolean)
    .flatMap(([text, kind]) => [el("span", { class: `note ${kind}`, dir: "auto", title: kind === "why" ? text : null }, text), " "]);
}

// A person or worker as initials in a circle. The same name always has the same colour.
function avatar(name, role) {
  const parts = shown(name, 60).split(/[^\p{L}\p{N}]+/u).filter(Boolean);
  const initials = (parts.length > 1 ? [parts[0], parts.at(-1)] : parts).map((part) => [...part][0].toLocaleUpperCase()).join("");
  const tint = [...name].reduce((sum, letter) => (sum * 31 + letter.codePointAt(0)) % 997, 7) % 6;
  return el(
    "span",
    { class: `avatar tint-${tint} ${role}`, title: `${role} ${shown(name, 60)}` },
    el("span", { "aria-hidden": "true" }, initials || "?"),
    el("span", { class: "unseen" }, `, ${role} ${shown(name, 60)}`),
  );
}

export function avatars(task) {
  const holder = task.claim?.owner;
  return [task.owner && task.owner !== holder && avatar(task.owner, "assigned to"), holder && avatar(holder, "held by")].filter(Boolean);
}

export function title(task) {
  return [
    el("span", { class: "id" }, `#${task.id}`),
    " ",
    el("span", { class: "text", dir: "auto" }, shown(task.subject, 200) || "(no text)"),
    el("span", { class: "unseen" }, `, ${NAMES[task.status]}`),
  ];
}

// One task as a line of text, for pages that cannot open it in a panel.
export function whole(task) {
  return [`#${task.id} ${shown(task.subject, 500)}`, task.owner && `for ${shown(task.owner)}`, shown(task.description, 2000)].filter(Boolean).join(" · ");
}

// The text of an empty list of tasks.
export function nothing({ sought, about }) {
  if (sought) return "No match.";
  return about?.write ? "Nothing to do. Add a task, or let an agent write the plan." : "No tasks.";
}

// The list item of a task. It is the same object until the task, or the text `said` about it, changes: a list draws only
// new objects.
export function fresh(items, task, said) {
  const known = items.get(task.id);
  if (known && known.task === task && known.said === said) return known;
  const item = { id: task.id, task, said };
  items.set(task.id, item);
  return item;
}
