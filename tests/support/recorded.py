"""Small recordings for tests: files written from values, and what a reader makes of them."""

import json
from pathlib import Path

from todoplan.transcripts.calls import BadLine, Compaction, PlanningCall
from todoplan.transcripts.reading import read

TODOS = {"todos": [{"content": "Write parser", "status": "pending"}]}


def lines_file(folder: Path, *records, name="recording.jsonl") -> Path:
    """Write records as JSON, text or bytes as they are, one a line."""
    path = folder / name
    path.write_bytes(b"".join(_line(record) + b"\n" for record in records))
    return path


def document_file(folder: Path, value) -> Path:
    """Write one JSON document, indented."""
    path = folder / "recording.json"
    path.write_text(json.dumps(value, indent=2), encoding="utf-8")
    return path


def text_file(folder: Path, text: str) -> Path:
    """Write a text."""
    path = folder / "recording.md"
    path.write_text(text, encoding="utf-8")
    return path


def _line(record) -> bytes:
    if isinstance(record, bytes):
        return record
    return (record if isinstance(record, str) else json.dumps(record)).encode()


def calls(path, dialect=None) -> list[PlanningCall]:
    """Read the planning calls alone."""
    return [item for item in read(path, dialect) if isinstance(item, PlanningCall)]


def bad_lines(path, dialect=None) -> list[BadLine]:
    """Read the bad lines alone."""
    return [item for item in read(path, dialect) if isinstance(item, BadLine)]


def compactions(path) -> list[Compaction]:
    """Read the compactions alone."""
    return [item for item in read(path) if isinstance(item, Compaction)]


def answers(path, dialect=None) -> list[str | None]:
    """Read the answers of the planning calls: a refusal begins with "!", no answer is `None`."""
    results = [call.result for call in calls(path, dialect)]
    return [one and f"{'!' if one.is_error else ''}{one.text}" for one in results]
