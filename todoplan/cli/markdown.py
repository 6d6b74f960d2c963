"""The commands that read plans from files: `import` and `sync`."""

import time
from contextlib import suppress
from pathlib import Path

import attrs

from todoplan.cli.plans import Edit, problem_data
from todoplan.codec import from_backlog, from_markdown, load_plan
from todoplan.core.decide import Rejected
from todoplan.core.plan.plan import Plan
from todoplan.core.problems import explain
from todoplan.errors import REFUSED, CodecError, PlanError, ReadError
from todoplan.planner.markdown import Synced, sync_file, text_of
from todoplan.render.outline import event_phrases, summary
from todoplan.render.terminal import Screen, line
from todoplan.texts import plural

_PAUSE = 0.5  # seconds between two checks of the file and the plan for changes
_MOST_FILES = 10_000


def import_plan(source: Path, screen: Screen, *, form: str | None = None, edit: Edit) -> None:
    """
    Create a plan with the tasks of a file or a Backlog.md folder.

    A file is Markdown, or a JSON document as `todoplan show --format json` prints it.
    """
    plan = _read(source, form)
    planner, plan_id = edit.place.planner(screen.complain)
    if planner.plan.revision or not planner.begin(plan):
        msg = (
            f"the plan {plan_id!r} has been written to already; name a new one by --plan, or "
            f"join the two: todoplan sync {source}"
        )
        raise PlanError(msg, plan=plan_id)
    if edit.as_json:
        data = {"plan": plan_id, "tasks": len(plan), "counts": plan.counts._asdict()}
        screen.write(f"{line(data)}\n")
    else:
        screen.write(f"{plural(len(plan), 'task')} read from {source}\n{summary(plan)}\n")


def _read(source: Path, form: str | None) -> Plan:
    if not source.is_dir():
        text = text_of(source)
        if text is None:
            msg = f"there is no file {source}"
            raise ReadError(msg, file=str(source))
        if text.lstrip()[:1] == "{" or source.suffix.lower() == ".json":
            try:
                return load_plan(text)
            except CodecError as error:
                msg = f"{source}: {error}"
                raise ReadError(msg, file=str(source)) from error
        plan = from_markdown(text, form)  # type: ignore[arg-type]  # checked: it is one of FORMS
        if not plan:
            msg = f"{source} has no task, such as a line `- [ ] Write it`"
            raise ReadError(msg, file=str(source))
        return plan
    names = sorted(source.glob("*.md"))[:_MOST_FILES]
    plan = from_backlog({name.name: text_of(name) or "" for name in names})
    if not plan:
        msg = f"{source} has no task of Backlog.md, such as `task-1 - Title.md`"
        raise ReadError(msg, file=str(source))
    return plan


def sync(
    file: Path, screen: Screen, *, form: str | None = None, watch: bool = False, edit: Edit
) -> int:
    """
    Synchronise a Markdown file and a plan.

    The file and the plan may be edited at any time. Changes to the file since the last sync are
    made in the plan, and changes to the plan are written to the file. No edit is lost, and
    conflicts are reported. If the file does not exist, it is created.
    """
    code = 0
    seen: tuple[int, int] | None = None
    planner, plan_id = edit.place.planner(screen.complain)
    rules = edit.judge.chosen_policy()
    with suppress(KeyboardInterrupt):
        while True:
            now = (_modified_at(file), planner.plan.revision)
            if now != seen:
                done = sync_file(
                    planner,
                    file,
                    form=form,  # type: ignore[arg-type]  # checked: it is one of FORMS
                    actor=edit.writer.name,
                    policy=rules,
                )
                code = _tell(done, file, plan_id, screen, as_json=edit.as_json)
                seen = (_modified_at(file), planner.plan.revision)
            if not watch:
                break
            time.sleep(_PAUSE)
    return code


def _modified_at(file: Path) -> int:
    return file.stat().st_mtime_ns if file.exists() else 0


def _tell(
    done: Synced | Rejected, file: Path, plan_id: str, screen: Screen, *, as_json: bool
) -> int:
    if isinstance(done, Rejected):
        if as_json:
            screen.write(f"{line({'plan': plan_id, 'problems': problem_data(done.problems)})}\n")
        for problem in done.problems if not as_json else ():
            screen.complain(f"refused: {explain(attrs.evolve(problem, path=''))}")
        return REFUSED
    if as_json:
        data = {
            "plan": plan_id,
            "revision": done.plan.revision,
            "from_file": len(done.events),
            "from_plan": [one.task.id for one in done.changed],
            "conflicts": [*done.conflicts],
        }
        screen.write(f"{line(data)}\n")
        return 0
    phrases = event_phrases(done.events, done.plan)
    rows = [f"from {file}: {'; '.join(phrases)}"] if phrases else []
    rows += [f"to {file}: {len(done.changed)} changed tasks"] if done.changed else []
    rows += [f"{file} and the plan are joined"] if done.is_first else []
    screen.show((*(rows or ["no change"]), summary(done.plan)))
    for conflict in done.conflicts:
        screen.complain(f"conflict: {conflict}")
    return 0
