# project -- what the checks share: where the tree is, which libraries it has, and what each may use.
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parent.parent


def read_map(root: pathlib.Path = ROOT) -> dict[str, list[str]]:
    """What each library may use, as cmake/faio_library.cmake says: the only place that says so."""
    text = (root / "cmake/faio_library.cmake").read_text()
    found = re.findall(r"^set\(FAIO_USES_(\w+)\s+([^)]*)\)", text, re.MULTILINE)
    if not found:
        raise SystemExit(f"{root}/cmake/faio_library.cmake has no set(FAIO_USES_<library> ...): the checks read the map there.")
    return {name: uses.replace('"', " ").split() for name, uses in found}


def beneath(library_map: dict[str, list[str]], name: str) -> list[str]:
    """The libraries that `name` stands on, near and far, without itself."""
    closed: list[str] = []
    wanted = list(library_map.get(name, []))
    while wanted:
        used = wanted.pop()
        if used not in closed:
            closed.append(used)
            wanted += library_map.get(used, [])
    return sorted(closed)


def libraries(root: pathlib.Path = ROOT) -> list[str]:
    """The libraries that are there: the folders of libs/ that have a header or a source."""
    return sorted(folder.name for folder in (root / "libs").iterdir() if any(folder.glob("**/*.[ch]pp")))


def public_headers(root: pathlib.Path, name: str) -> list[pathlib.Path]:
    return sorted((root / "libs" / name / "include").glob("**/*.hpp"))
