// The graph of dependencies: a box for each task, and an arrow from each blocker.

import { el, shown, svg } from "./dom.js";
import { NAMES } from "./model.js";

export const MOST = 200;
const [WIDTH, HEIGHT] = [180, 44];

// Returns the tasks to draw: all tasks with arrows, or, if there are more than `most`, those nearest to one task.
export function chosen(plan, around, most = MOST) {
  const next = new Map();
  const join = (a, b) => {
    if (!next.has(a)) next.set(a, []);
    next.get(a).push(b);
  };
  for (const task of plan.list()) {
    for (const blocker of task.blocked_by ?? []) {
      if (!plan.tasks.has(blocker)) continue;
      join(task.id, blocker);
      join(blocker, task.id);
    }
  }
  const linked = plan.order.filter((id) => next.has(id));
  if (linked.length <= most) return { ids: linked, of: linked.length };
  const open = linked.find((id) => plan.tasks.get(id).status === "in_progress");
  const start = next.has(around) ? around : (open ?? linked.find((id) => plan.ready.has(id)) ?? linked[0]);
  const found = new Set([start]);
  for (const id of found) {
    for (const near of next.get(id)) {
      if (found.size < most) found.add(near);
    }
  }
  return { ids: [...found], of: linked.length, start };
}

export function drawn(plan, { ids, path = [], open = null, changed = new Set() }) {
  const graph = new dagre.graphlib.Graph();
  graph.setGraph({ rankdir: "LR", nodesep: 14, ranksep: 46, marginx: 8, marginy: 8 });
  graph.setDefaultEdgeLabel(() => ({}));
  const here = new Set(ids);
  for (const id of ids) graph.setNode(id, { width: WIDTH, height: HEIGHT });
  const arrows = [];
  for (const id of ids) {
    for (const blocker of plan.tasks.get(id).blocked_by ?? []) {
      if (here.has(blocker)) arrows.push([blocker, id]);
    }
  }
  for (const [from, to] of arrows) graph.setEdge(from, to);
  dagre.layout(graph);
  const { width = 0, height = 0 } = graph.graph();
  const steps = new Set(path.slice(1).map((id, place) => `${path[place]} ${id}`));
  const lines = graph.edges().map(({ v, w }) => {
    const points = graph.edge(v, w).points;
    const way = points.map(({ x, y }, place) => `${place ? "L" : "M"}${x.toFixed(1)} ${y.toFixed(1)}`);
    return svg("path", {
      d: way.join(""),
      class: steps.has(`${v} ${w}`) ? "arrow critical" : "arrow",
      "marker-end": "url(#tip)",
    });
  });
  const critical = new Set(path);
  const boxes = ids.map((id) => box(plan.tasks.get(id), graph.node(id), { critical, open, changed }));
  const tip = svg(
    "marker",
    { id: "tip", viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 9, markerHeight: 9, markerUnits: "userSpaceOnUse", orient: "auto" },
    svg("path", { d: "M0 0L8 4L0 8z", class: "tip" }),
  );
  return svg(
    "svg",
    {
      class: "graph",
      role: "group",
      "aria-label": `${ids.length} tasks, ${arrows.length} arrows from what has to be done before`,
      width: Math.ceil(width) || 1,
      height: Math.ceil(height) || 1,
      viewBox: `0 0 ${Math.ceil(width) || 1} ${Math.ceil(height) || 1}`,
    },
    svg("defs", {}, tip),
    lines,
    boxes,
  );
}

function box(task, { x, y }, { critical, open, changed }) {
  const classes = ["box", task.status, task.waiting ? "waiting" : "", critical.has(task.id) ? "critical" : ""];
  if (changed.has(task.id)) classes.push("changed");
  const after = (task.blocked_by ?? []).map((id) => `#${id}`).join(", ");
  const said = `#${task.id} ${shown(task.subject, 80)}, ${NAMES[task.status]}${after ? `, after ${after}` : ""}`;
  const reach = open
    ? {
        role: "button",
        tabindex: 0,
        onclick: () => open(task.id),
        onkeydown: (event) => {
          if (event.key !== "Enter" && event.key !== " ") return;
          event.preventDefault();
          open(task.id);
        },
      }
    : { role: "img" };
  return svg(
    "g",
    { class: classes.join(" ").trim(), transform: `translate(${x - WIDTH / 2} ${y - HEIGHT / 2})`, "aria-label": said, "data-id": task.id, ...reach },
    svg("title", {}, said),
    svg("rect", { width: WIDTH, height: HEIGHT, rx: 6 }),
    svg("text", { x: 10, y: 18, class: "id" }, `#${task.id} · ${task.waiting ? "waiting" : NAMES[task.status]}`),
    svg("text", { x: 10, y: 34 }, shown(task.subject, 22)),
  );
}

export class GraphView {
  constructor(board) {
    this.board = board;
    this.around = null;
    this.note = el("p", { class: "quiet" });
    this.place = el("div", { class: "scroll drawing", tabindex: 0, role: "region", "aria-label": "Dependency graph" });
    this.element = el("div", { class: "graphs" }, this.note, this.place);
    this.asked = 0;
  }

  show(plan) {
    // Delayed, because the layout of a graph is slow, and changes often come in groups.
    clearTimeout(this.asked);
    this.asked = setTimeout(() => this.draw(plan), this.place.firstChild ? 250 : 0);
  }

  draw(plan) {
    const { ids, of, start } = chosen(plan, this.around ?? this.board.last);
    const path = this.board.insight?.path ?? [];
    const focused = this.place.contains(document.activeElement) ? document.activeElement.dataset.id : null;
    if (!ids.length) {
      this.note.textContent = `No task is blocked by another one.${this.board.about?.write ? " Open a task to link it to what comes first." : ""}`;
      this.place.replaceChildren();
      return;
    }
    this.note.textContent =
      ids.length < of
        ? `${ids.length} of ${of} tasks with arrows are drawn: those around #${start}. Open another task to draw what is around it.`
        : `${of} tasks with arrows; an arrow leads from what has to be done first.${path.length ? " The critical path is bold." : ""}`;
    this.place.replaceChildren(drawn(plan, { ids, path, open: (id) => this.board.edit(id) }));
    if (focused) this.place.querySelector(`g[data-id="${CSS.escape(focused)}"]`)?.focus();
  }

  focus(id) {
    this.around = id;
    this.draw(this.board.plan);
    this.place.querySelector(`g[data-id="${CSS.escape(id)}"]`)?.focus();
  }
}
