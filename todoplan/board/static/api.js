// Requests to the server: reads, a person's actions, and streams of events, which are resumed after a break.

const TOKEN = "todoplan-token";
const NAME = "todoplan-name";

// Takes the token from the fragment of the address, which browsers never send, and keeps it for this tab only.
export function takeToken() {
  const given = new URLSearchParams(location.hash.slice(1)).get("token");
  if (!given) return;
  sessionStorage.setItem(TOKEN, given);
  history.replaceState(null, "", location.pathname + location.search);
}

export function keepToken(token) {
  sessionStorage.setItem(TOKEN, token);
}

export const person = {
  get name() {
    return localStorage.getItem(NAME) ?? "";
  },
  set name(name) {
    localStorage.setItem(NAME, name);
  },
};

function headers(more = {}) {
  const token = sessionStorage.getItem(TOKEN);
  return { ...more, ...(token ? { Authorization: `Bearer ${token}` } : {}) };
}

function address(name, query = {}) {
  const given = new URLSearchParams(query).toString();
  return `api/${name}${given ? `?${given}` : ""}`;
}

export class Refused extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

async function failure(response) {
  const text = await response.text();
  try {
    return new Refused(response.status, JSON.parse(text).message);
  } catch {
    return new Refused(response.status, text.trim() || `the server says ${response.status}`);
  }
}

export async function ask(name, query) {
  const response = await fetch(address(name, query), { headers: headers() });
  if (!response.ok) throw await failure(response);
  return response.json();
}

export async function act(plan, wish) {
  let response;
  try {
    response = await fetch(address("act", { plan }), {
      method: "POST",
      headers: headers({ "Content-Type": "application/json" }),
      body: JSON.stringify({ ...wish, name: person.name }),
    });
  } catch {
    throw new Refused(0, "The server cannot be reached: nothing was changed. Try again when it is back.");
  }
  if (!response.ok && response.status !== 409) throw await failure(response);
  return response.json();
}

const FIRST_WAIT = 300;
const LONGEST_WAIT = 5000;

// A stream of events over `fetch`, because EventSource cannot send a token. After a break, it is resumed by the id of
// the last event.
export class Events {
  constructor(name, query, { hear, state }) {
    this.query = { name, query };
    this.hear = hear;
    this.state = state;
    this.last = null;
    this.stopping = new AbortController();
    this.run();
  }

  stop() {
    this.stopping.abort();
  }

  async run() {
    let wait = FIRST_WAIT;
    while (!this.stopping.signal.aborted) {
      try {
        await this.listen(() => {
          wait = FIRST_WAIT;
        });
      } catch (error) {
        if (this.stopping.signal.aborted) return;
        if (error instanceof Refused && [401, 403, 404].includes(error.status)) {
          this.state("refused", error);
          return;
        }
      }
      if (this.stopping.signal.aborted) return;
      this.state("away");
      await new Promise((done) => setTimeout(done, wait));
      wait = Math.min(wait * 2, LONGEST_WAIT);
    }
  }

  async listen(heard) {
    const { name, query } = this.query;
    const more = { Accept: "text/event-stream" };
    if (this.last !== null) more["Last-Event-ID"] = this.last;
    const response = await fetch(address(name, query), {
      headers: headers(more),
      signal: this.stopping.signal,
      cache: "no-store",
    });
    if (!response.ok) throw await failure(response);
    this.state("live");
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    let rest = "";
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      const blocks = (rest + value).split(/\r?\n\r?\n/);
      rest = blocks.pop();
      for (const block of blocks) {
        if (this.take(block)) heard();
      }
    }
  }

  take(block) {
    let kind = "message";
    let id = null;
    const data = [];
    for (const line of block.split(/\r?\n/)) {
      const [, field, value] = /^([^:]*):? ?(.*)$/.exec(line);
      if (field === "event") kind = value;
      else if (field === "id") id = value;
      else if (field === "data") data.push(value);
    }
    if (!data.length) return false;
    this.hear(kind, JSON.parse(data.join("\n")));
    // The id is stored last, so an event that raised an error is requested again.
    if (id !== null) this.last = id;
    return true;
  }
}
