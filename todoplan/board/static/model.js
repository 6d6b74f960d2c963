// The plan in the page, and the values that are derived from its tasks.

export const STATUSES = ["pending", "in_progress", "completed", "failed", "cancelled"];
export const NAMES = { pending: "To do", in_progress: "In progress", completed: "Completed", failed: "Failed", cancelled: "Cancelled" };
const RESOLVED = new Set(["completed", "cancelled"]);
const CLOSED = new Set([...RESOLVED, "failed"]);

export function isClosed(task) {
  return CLOSED.has(task.status);
}

export class Plan {
  constructor() {
    this.tasks = new Map();
    this.order = [];
    this.rows = [];
    this.revision = 0;
    this.approved = null;
    this.earlier = false;
    this.derive();
  }

  hear(kind, message) {
    if (kind === "snapshot") {
      this.tasks = new Map(message.tasks.map((task) => [task.id, task]));
      this.order = message.tasks.map((task) => task.id);
      this.rows = message.rows;
      this.earlier = message.earlier;
    } else {
      if (message.revision <= this.revision) return false;
      const gone = new Set(message.gone);
      for (const id of gone) this.tasks.delete(id);
      const fresh = message.tasks.filter((task) => !this.tasks.has(task.id));
      for (const task of message.tasks) this.tasks.set(task.id, task);
      this.order =
        message.order ??
        [...this.order.filter((id) => !gone.has(id)), ...fresh.map((task) => task.id)];
      const known = this.rows.at(-1)?.revision ?? 0;
      this.rows = [...this.rows, ...message.rows.filter((row) => row.revision > known)];
    }
    this.revision = message.revision;
    this.approved = message.approved;
    this.derive();
    return true;
  }

  list() {
    return this.order.map((id) => this.tasks.get(id));
  }

  derive() {
    this.children = new Map();
    this.top = [];
    this.depth = new Map();
    this.counts = Object.fromEntries(STATUSES.map((status) => [status, 0]));
    this.waiting = [];
    this.claimed = [];
    const held = new Map();
    this.ready = new Set();
    // A parent comes before its subtasks in the plan, so the parent's values are already computed.
    for (const task of this.list()) {
      this.counts[task.status] += 1;
      if (task.waiting) this.waiting.push(task);
      if (task.claim) this.claimed.push(task);
      const parent = this.tasks.has(task.parent) ? task.parent : null;
      this.depth.set(task.id, parent ? this.depth.get(parent) + 1 : 0);
      if (parent) {
        if (!this.children.has(parent)) this.children.set(parent, []);
        this.children.get(parent).push(task.id);
      } else this.top.push(task.id);
      const above = parent ? held.get(parent) : false;
      const own = Boolean(task.waiting) || this.blockers(task).length > 0;
      held.set(task.id, above || own);
      if (task.status === "pending" && !above && !own) this.ready.add(task.id);
    }
    for (const id of this.children.keys()) this.ready.delete(id);
  }

  blockers(task) {
    return (task.blocked_by ?? []).filter((id) => {
      const blocker = this.tasks.get(id);
      return blocker && !RESOLVED.has(blocker.status);
    });
  }

  // Why a task is not ready, in a word; "" where there is nothing to say.
  hint(task) {
    if (task.waiting) return "waiting";
    if (task.status !== "pending") return "";
    if (this.ready.has(task.id)) return "ready";
    return this.children.has(task.id) ? "" : "blocked";
  }

  // All that a task contains, in order.
  within(id) {
    const found = [];
    const left = [...(this.children.get(id) ?? [])].reverse();
    while (left.length) {
      const next = left.pop();
      found.push(next);
      left.push(...[...(this.children.get(next) ?? [])].reverse());
    }
    return found;
  }

  siblings(task) {
    return this.tasks.has(task.parent) ? this.children.get(task.parent) : this.top;
  }
}
