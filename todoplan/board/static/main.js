// The page: the plan that it shows, the state of the connection, and the name of the person.

import { ask, keepToken, person, Refused, takeToken } from "./api.js";
import { Board } from "./board.js";
import { el, put, shown } from "./dom.js";
import { Plans } from "./plans.js";

class Page {
  constructor() {
    this.said = document.getElementById("said");
    this.refused = document.getElementById("refused");
    this.main = document.getElementById("main");
    this.head = document.getElementById("head");
    this.live = el("span", { class: "live", role: "status" }, "connecting");
    this.at = el("span", { class: "at quiet" });
    addEventListener("popstate", () => this.open());
  }

  async start() {
    takeToken();
    try {
      this.about = await ask("board");
    } catch (error) {
      if (error instanceof Refused && error.status === 401) this.askToken();
      else this.refuse(error instanceof Refused ? error.message : "The server cannot be reached. Load the page again when it is back.");
      return;
    }
    this.open();
  }

  askToken() {
    const field = el("input", { id: "token", type: "password", autocomplete: "off", required: true });
    const form = el(
      "form",
      {
        class: "oneline",
        onsubmit: (event) => {
          event.preventDefault();
          keepToken(field.value.trim());
          this.start();
        },
      },
      el("label", { for: "token" }, "Token"),
      field,
      el("button", {}, "Open"),
    );
    this.head.replaceChildren(el("h1", {}, "Plans"));
    this.main.replaceChildren(el("p", {}, "This board asks for its token: the value of TODOPLAN_BOARD_TOKEN where it is served."), form);
  }

  // The line at the top. On a phone, a button opens the tools, and the tabs of the views are at the bottom.
  bar(plan, { head = [], tools = [] }) {
    const { write, named, person: usual } = this.about;
    const name = el("input", { id: "name", autocomplete: "nickname", value: person.name, placeholder: usual, onchange: () => (person.name = name.value) });
    const menu = el("button", { type: "button", class: "narrow", "aria-expanded": "false", "aria-controls": "tools", onclick: () => this.unfold(menu, place) }, write && plan !== null ? "Add, find" : "Menu");
    const place = el(
      "div",
      { class: "tools", id: "tools" },
      write && named && el("span", { class: "oneline" }, el("label", { for: "name" }, "Your name"), name),
      tools,
    );
    return [
      plan !== null && !this.about.plan && el("a", { href: "./", onclick: (event) => this.follow(event) }, "‹", el("span", { class: "word" }, " All plans")),
      el("h1", { dir: "auto" }, plan === null ? "Plans" : shown(plan, 120) || "(no name)"),
      this.live,
      this.at,
      !write && el("span", { class: "note" }, "read-only"),
      head,
      place.firstChild && menu,
      place,
    ];
  }

  unfold(menu, place) {
    const open = place.classList.toggle("open");
    menu.setAttribute("aria-expanded", String(open));
    if (open) (place.querySelector("#new-task") ?? place.querySelector("input")).focus();
  }

  follow(event) {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    history.pushState(null, "", event.currentTarget.getAttribute("href"));
    this.open();
    this.main.focus();
  }

  open() {
    const plan = this.about.plan ?? new URLSearchParams(location.search).get("plan");
    this.shown?.stop();
    this.clear();
    this.at.textContent = "";
    document.title = plan === null ? "Plans" : `${plan} – plan`;
    this.shown = plan === null ? new Plans(this) : new Board(this, plan, this.about);
    put(this.head, this.bar(plan, this.shown));
    this.main.replaceChildren(this.shown.element);
  }

  connection(state, error) {
    const words = { live: "live", away: "not connected, trying again", refused: "not connected" };
    this.live.textContent = words[state];
    this.live.dataset.state = state;
    if (state === "refused" && error.status === 401) this.askToken();
    else if (state === "refused") this.refuse(error.message);
  }

  revision(revision, tasks) {
    this.at.textContent = `revision ${revision}, ${tasks} tasks`;
    this.main.dataset.revision = revision;
  }

  clear() {
    this.said.textContent = "";
    this.refused.textContent = "";
  }

  say(text) {
    this.said.textContent = text;
  }

  refuse(text) {
    this.refused.textContent = text;
  }
}

const page = new Page();
page.start();
