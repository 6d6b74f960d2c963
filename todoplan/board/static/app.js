// A read-only view of a plan in the window of an MCP host. The page reads the plan as a resource through the host.
// It changes nothing: the server could not distinguish a call of the page from a call of the model, so a person's
// change would be recorded as the model's.

import { whole } from "./card.js";
import { Columns } from "./columns.js";
import { el, put, shown, soon } from "./dom.js";
import { GraphView } from "./graph.js";
import { Host } from "./host.js";
import { Plan } from "./model.js";
import { Tree } from "./tree.js";
import { Views } from "./views.js";

const MODES = ["inline", "fullscreen"];

class App {
  constructor(main) {
    Object.assign(this, { main, plan: new Plan(), insight: null, last: null, mode: "inline", lastCounts: null });
    this.views = new Views(this, [["columns", "Board", Columns], ["tree", "Tree", Tree], ["graph", "Graph", GraphView]]);
    this.said = el("p", { class: "said", dir: "auto" });
    this.counts = el("p", { class: "quiet", role: "status" });
    this.trouble = el("p", { class: "finding error", role: "alert", hidden: true });
    this.task = el("p", { class: "quiet", role: "status", dir: "auto" });
    this.again = el("button", { type: "button", onclick: () => this.read() }, "Refresh");
    this.wide = el("button", { type: "button", hidden: true, onclick: () => this.widen() });
    this.paint = soon(() => this.show());
    const rules = [...document.styleSheets].flatMap(({ cssRules }) => [...cssRules]);
    this.dark = rules.filter(({ media }) => media?.mediaText.includes("prefers-color-scheme: dark"));
    this.host = new Host({
      "ui/notifications/tool-result": (result) => this.hear(result),
      "ui/notifications/host-context-changed": (context) => this.suit(context),
      "ui/resource-teardown": () => ({}),
      ping: () => ({}),
    });
    this.start();
  }

  async start() {
    let about;
    try {
      about = await this.host.open(this.main.dataset.version, MODES);
    } catch (error) {
      put(this.main, this.trouble);
      this.refuse(`The program that shows this page did not open it: ${error.message}`);
      return;
    }
    this.reads = Boolean(about.hostCapabilities?.serverResources);
    this.again.hidden = !this.reads;
    this.views.list.hidden = this.views.place.hidden = !this.reads;
    put(
      this.main,
      el("div", { class: "top" }, el("h1", {}, `Plan ${this.main.dataset.plan.split("/").at(-1)}`), this.views.list, this.again, this.wide),
      this.said,
      this.trouble,
      this.counts,
      this.views.place,
      this.task,
    );
    this.suit(about.hostContext ?? {});
    new ResizeObserver(soon(() => this.tellSize())).observe(document.documentElement);
    // The host reports only the call for which the page was opened. So the page reads the plan again whenever it
    // becomes visible.
    new IntersectionObserver(([entry]) => entry.isIntersecting && this.read()).observe(this.main);
    document.addEventListener("visibilitychange", () => document.hidden || this.read());
    this.read();
  }

  // Reads the plan. During a read, any number of further requests lead to one more read.
  async read() {
    this.due = this.reads;
    if (this.busy) return;
    this.busy = true;
    while (this.due) {
      this.due = false;
      await this.readNow();
    }
    this.busy = false;
  }

  async readNow() {
    try {
      const { contents } = await this.host.ask("resources/read", { uri: this.main.dataset.plan });
      const { revision, tasks, approved = null } = JSON.parse(contents[0].text);
      this.plan.hear("snapshot", { revision, tasks, approved, rows: [], earlier: false });
      this.refuse("");
      this.paint();
    } catch (error) {
      this.refuse(`The plan could not be read: ${error.message}`);
    }
  }

  hear({ content, structuredContent, isError }) {
    this.said.textContent = shown(content?.find?.(({ type }) => type === "text")?.text, 600);
    this.said.classList.toggle("finding", Boolean(isError));
    this.lastCounts = structuredContent?.counts ?? this.lastCounts;
    this.paint();
    this.read();
  }

  show() {
    const counts = this.reads ? this.plan.counts : this.lastCounts;
    if (!counts) return;
    const all = Object.values(counts).reduce((sum, count) => sum + count, 0);
    const parts = [`${counts.completed}/${all} completed`, `${counts.in_progress} in progress`];
    if (this.reads) parts.push(`${this.plan.ready.size} ready`, `revision ${this.plan.revision}`);
    else parts.push("the tasks cannot be shown here: this program lets pages read no resources");
    this.counts.textContent = parts.join(", ");
    this.main.dataset.revision = this.plan.revision;
    this.views.show();
    if (this.last !== null && !this.plan.tasks.has(this.last)) this.task.textContent = "";
  }

  // Adopts the host's settings. By default, colours follow the system; if the host names a theme, it replaces the
  // media queries of the style sheets.
  suit({ theme, displayMode, availableDisplayModes }) {
    if (theme === "light" || theme === "dark") {
      document.documentElement.style.colorScheme = theme;
      for (const rule of this.dark) rule.media.mediaText = theme === "dark" ? "all" : "not all";
    }
    this.mode = displayMode ?? this.mode;
    if (availableDisplayModes) this.wide.hidden = !availableDisplayModes.includes("fullscreen");
    this.wide.textContent = this.mode === "fullscreen" ? "Exit full screen" : "Full screen";
    document.documentElement.dataset.mode = this.mode;
  }

  async widen() {
    const wanted = this.mode === "fullscreen" ? "inline" : "fullscreen";
    try {
      const { mode } = await this.host.ask("ui/request-display-mode", { mode: wanted });
      this.suit({ displayMode: mode });
    } catch (error) {
      this.refuse(error.message);
    }
  }

  tellSize() {
    const height = Math.ceil(document.documentElement.getBoundingClientRect().height);
    this.host.tell("ui/notifications/size-changed", { width: innerWidth, height });
  }

  refuse(text) {
    this.trouble.textContent = shown(text, 300);
    this.trouble.hidden = !text;
  }

  edit(id) {
    this.last = id;
    this.task.textContent = whole(this.plan.tasks.get(id));
    if (this.views.now === "graph") this.views.show();
  }

  wanted() {
    return true;
  }

  shift() {}
}

new App(document.getElementById("app"));
