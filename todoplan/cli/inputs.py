"""Which files to read: those that were named, those below a directory, and the sample."""

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from importlib.resources import as_file, files
from pathlib import Path

import attrs

__all__ = ["Input", "expand", "sample"]

_KINDS = frozenset({".jsonl", ".json", ".md"})


@attrs.frozen
class Input:
    """
    One file to read. `label` is how it is shown; `named` is false if only its directory was named.
    """

    path: Path
    label: str
    named: bool = True

    @property
    def size(self) -> int:
        """
        The file's size in bytes, 0 if it cannot be told.
        """
        try:
            return self.path.stat().st_size
        except OSError:
            return 0


def expand(paths: Iterable[Path]) -> Iterator[Input]:
    """
    Give the files to read; a directory stands for the *.jsonl, *.json and *.md files below it.
    """
    for path in paths:
        if path.is_dir():
            yield from (Input(found, str(found), named=False) for found in _below(path))
        else:
            yield Input(path, str(path))


def _below(directory: Path) -> Iterator[Path]:
    for folder, folders, names in os.walk(directory):
        folders.sort()
        for path in (Path(folder, name) for name in sorted(names)):
            if path.suffix.lower() in _KINDS and path.is_file():
                yield path


@contextmanager
def sample() -> Iterator[Input]:
    """
    Give the recording that comes with the package.
    """
    with as_file(files("todoplan.transcripts").joinpath("sample.jsonl")) as path:
        yield Input(path, "sample.jsonl")
