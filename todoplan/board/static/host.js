// JSON-RPC with the MCP host that shows this page in a frame (MCP Apps, SEP-1865).

const SPOKEN = "2026-01-26";
const NO_SUCH_METHOD = -32601;

export class Host {
  // `heard` has a function for each method that the host may call. Its return value is the answer to a request.
  constructor(heard) {
    this.heard = new Map(Object.entries(heard));
    this.asked = new Map();
    this.number = 0;
    addEventListener("message", (event) => {
      if (event.source === parent && event.data?.jsonrpc === "2.0") this.hear(event.data);
    });
  }

  async open(version, modes) {
    const about = await this.ask("ui/initialize", {
      protocolVersion: SPOKEN,
      appInfo: { name: "todoplan", version },
      appCapabilities: { availableDisplayModes: modes },
    });
    this.tell("ui/notifications/initialized", {});
    return about;
  }

  ask(method, params) {
    this.number += 1;
    const id = this.number;
    return new Promise((resolve, reject) => {
      this.asked.set(id, { resolve, reject });
      this.send({ id, method, params });
    });
  }

  tell(method, params) {
    this.send({ method, params });
  }

  // Sent to any origin: a page in a sandbox does not know its host's origin, and no message contains the plan.
  send(message) {
    parent.postMessage({ jsonrpc: "2.0", ...message }, "*");
  }

  hear({ id, method, params, result, error }) {
    if (method === undefined) {
      const { resolve, reject } = this.asked.get(id) ?? {};
      this.asked.delete(id);
      if (error) reject?.(new Error(error.message));
      else resolve?.(result);
      return;
    }
    const answer = this.heard.get(method);
    if (id === undefined) answer?.(params ?? {});
    else if (answer) this.send({ id, result: answer(params ?? {}) });
    else this.send({ id, error: { code: NO_SUCH_METHOD, message: `this page knows no ${method}` } });
  }
}
