"""
Play the scripts in the coding agents: `python -m tests.hosts --all`, or names of agents.

It prints a table, and what was not as it should be; the programs are installed if they are missing.
"""

import argparse
import os
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))  # as pytest does (pyproject.toml)
os.environ.pop("TODOPLAN_STORE", None)

from hosts.agents import HOSTS
from hosts.installing import MissingHostError, install
from hosts.playing import play
from hosts.scripts import SCRIPTS
from support.tokens import tokens


def price(played):
    """
    Return the tokens of the last request: what the model reads at the end of the conversation.
    """
    return tokens(played.requests[-1].shown()) if played.requests else 0


def cells(host, program, names, folder):
    """Yield what each script comes to in a host."""
    for name in names:
        if name in host.cannot:
            yield "-", f"{host.title}, {name}: {host.cannot[name]}"
            continue
        place = folder / host.name / name.replace(" ", "-")
        faults = play(host, program, SCRIPTS[name], place).faults(SCRIPTS[name])
        yield (
            ("no" if faults else "yes"),
            "; ".join((f"{host.title}, {name}: {each}") for each in faults),
        )


def prices(host, program, folder):
    """Return what planning adds to the conversation "work": by our tool, and by the host's own."""
    script = SCRIPTS["work"]
    kinds = ("ours", "own") if host.own_tool else ("ours",)
    none, *found = (
        price(play(host, program, script, folder / host.name / f"tokens-{kind}", kind))
        for kind in ("none", *kinds)
    )
    added = [f"{each - none:+,}" for each in found]
    return [f"{none:,}", *added, *["-"] * (2 - len(added))]


def main():
    """Run the command line; return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.hosts", description=__doc__)
    parser.add_argument("hosts", nargs="*", choices=[*HOSTS, []], help="the agents")
    parser.add_argument("--all", action="store_true", help="all agents")
    parser.add_argument("--install", action="store_true", help="install them, and play nothing")
    parser.add_argument("--script", action="append", choices=[*SCRIPTS], help="only this script")
    parser.add_argument("--keep", type=Path, help="a new folder for the homes of the agents")
    given = parser.parse_args()
    names, rows, notes = given.script or [*SCRIPTS], [], []
    folder = given.keep or Path(tempfile.mkdtemp())
    for host in HOSTS.values() if given.all else [HOSTS[name] for name in given.hosts]:
        try:
            program = install(host)
        except MissingHostError as error:
            notes.append(str(error))
            continue
        if given.install:
            continue
        row = [f"{host.title} {host.version}"]
        for cell, note in cells(host, program, names, folder):
            row.append(cell)
            notes += [note] if note else []
            sys.stderr.write(f"{row[0]}, {names[len(row) - 2]}: {cell}\n")
        rows.append(row + ([] if given.script else prices(host, program, folder)))
    titles = ["agent", *names, *([] if given.script else ["without a plan", "ours", "its own"])]
    for row in [titles, ["---"] * len(titles), *rows] if rows else []:
        sys.stdout.write(f"| {' | '.join(row)} |\n")
    for note in notes:
        sys.stdout.write(f"- {note}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
