"""Machinery of the deletions: all that can be taken out of a package, each with every digest made right again."""

from __future__ import annotations

import copy
import hashlib
import io
import json
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from systoliq.golden.archive import npz_bytes

__all__ = ["Change", "changed", "changes"]

CERTIFICATE = "certificate.json"
_EMPTY = (None, [], {}, "", 0)


@dataclass(frozen=True, kw_only=True)
class Change:
    """What is done to `file`: `what`, of a kind ("key", "member", "file", "emptied"), by `apply` to its bytes.

    `apply` returns None where the file goes; `unlisted`: nothing names the file any more. `place`: of a key.
    """

    kind: str
    file: str
    what: str
    apply: Callable[[bytes], bytes | None]
    unlisted: bool = False
    place: str = ""


def changes(directory) -> Iterator[Change]:
    """Every change of the package in `directory`."""
    for path in sorted(directory.iterdir()):
        name = path.name
        if name.endswith(".json"):
            for place in places(json.loads(path.read_bytes())):
                for kind, new in ways(json.loads(path.read_bytes()), place):
                    yield Change(
                        kind=kind, file=name, what=f"{place} {new!r}", place=str(place), apply=in_json(place, kind, new)
                    )
        if name.endswith(".npz"):
            arrays = read(path.read_bytes())
            for key in arrays:
                yield Change(kind="member", file=name, what=key, apply=without_member(key))
            if "description" in arrays:
                said = json.loads(arrays["description"].item())
                for place in places(said):
                    for kind, new in ways(said, place):
                        what = f"description {place} {new!r}"
                        yield Change(
                            kind=kind,
                            file=name,
                            what=what,
                            place=f"description {place}",
                            apply=in_description(place, kind, new),
                        )
        for unlisted in (False, True):
            yield Change(kind="file", file=name, what=f"{unlisted=}", apply=lambda _: None, unlisted=unlisted)


def changed(directory, change, folder):
    """A copy of the package in `directory` with `change` in it, sealed."""
    made = folder / "changed"
    shutil.rmtree(made, ignore_errors=True)
    shutil.copytree(directory, made)
    path = made / change.file
    content = change.apply(path.read_bytes())
    if content is None:
        path.unlink()
    else:
        path.write_bytes(content)
    if change.unlisted:
        for file in made.glob("*.json"):
            said = json.loads(file.read_bytes())
            if isinstance(said, dict) and change.file in said.get("files", {}):
                del said["files"][change.file]
                file.write_bytes(written(said))
    seal(made, touches_digest=change.file == CERTIFICATE and "('sha256',)" in change.what)
    return made


def seal(directory, *, touches_digest):
    """Bring every digest up to date that is there."""
    path = directory / CERTIFICATE
    said = json.loads(path.read_bytes()) if path.is_file() else None
    if not isinstance(said, dict):
        return
    if isinstance(said.get("files"), dict):
        for name in said["files"]:
            if (directory / name).is_file():
                said["files"][name] = hashlib.sha256((directory / name).read_bytes()).hexdigest()
    if not touches_digest:
        rest = {key: value for key, value in said.items() if key != "sha256"}
        own = json.dumps(rest, sort_keys=True, separators=(",", ":"))
        said["sha256"] = hashlib.sha256(own.encode()).hexdigest()
    path.write_bytes(written(said))


def written(said) -> bytes:
    return (json.dumps(said, indent=2) + "\n").encode()


def places(said, path=()) -> Iterator[tuple]:
    """Where there is something in JSON, at any depth, by the keys and indices that lead there."""
    items = said.items() if isinstance(said, dict) else enumerate(said) if isinstance(said, list) else ()
    for key, value in items:
        yield (*path, key)
        yield from places(value, (*path, key))


def ways(said, place):
    """Deleted, and emptied to something else than what is there."""
    for key in place:
        said = said[key]
    yield "key", None
    for new in _EMPTY:
        if json.dumps(new) != json.dumps(said):
            yield "emptied", new


def replaced(said, place, kind, new):
    said = copy.deepcopy(said)
    at = said
    for key in place[:-1]:
        at = at[key]
    if kind == "key":
        del at[place[-1]]
    else:
        at[place[-1]] = copy.deepcopy(new)
    return said


def in_json(place, kind, new):
    return lambda content: written(replaced(json.loads(content), place, kind, new))


def in_description(place, kind, new):
    def apply(content):
        arrays = read(content)
        said = replaced(json.loads(arrays["description"].item()), place, kind, new)
        return npz_bytes(arrays | {"description": np.array(json.dumps(said, separators=(",", ":")).encode())})

    return apply


def without_member(name):
    def apply(content):
        arrays = read(content)
        del arrays[name]
        return npz_bytes(arrays)

    return apply


def read(content):
    with np.load(io.BytesIO(content)) as archive:
        return dict(archive)
