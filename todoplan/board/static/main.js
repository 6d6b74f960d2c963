// The page: which plan it shows, whether it is live, who is reading.

import { ask, keepToken, person, Refused, takeToken } from "./api.js";
import { Board } from "./board.js";
import { el } from "./dom.js";
import { Plans } from "./plans.js";

class Page {
  constructor() {
    this.said = document.getElementById("said");
    this.refused = document.getElementById("refused");
    this.main = document.getElementById("main");
    this.head = document.getElementById("head");
    this.live = el("span", { class: "live", role: "status" }, "connecting");
    this.at = el("span", { class: "quiet" });
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
    this.head.replaceChildren(...this.bar());
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
    this.main.replaceChildren(el("h1", {}, "Plans"), el("p", {}, "This board asks for its token."), form);
  }

  bar() {
    const name = el("input", { id: "name", autocomplete: "nickname", value: person.name, placeholder: this.about.person, onchange: () => (person.name = name.value) });
    return [
      !this.about.plan && el("a", { href: "./", onclick: (event) => this.follow(event) }, "All plans"),
      this.live,
      this.at,
      !this.about.write && el("span", { class: "note" }, "for reading only"),
      this.about.write && this.about.named && el("span", { class: "oneline" }, el("label", { for: "name" }, "Your name"), name),
    ].filter(Boolean);
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
