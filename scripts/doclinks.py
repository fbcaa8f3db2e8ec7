"""Whether every relative link of the documentation leads somewhere and every page can be reached from README.md."""

from __future__ import annotations

import re
from pathlib import Path

LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)(?:\s+\"[^\"]*\")?\)")
FENCE = re.compile(r"```.*?```|`[^`\n]*`", re.S)
HEADING = re.compile(r"^#{1,6}\s+(.+?)\s*#*$", re.M)
NOT_OURS = {".venv", "var", "node_modules", ".git", "staticfiles"}


def problems(root: Path) -> list[str]:
    """Return dead links and pages that nothing links to, one sentence each."""
    pages = {path.resolve() for path in root.rglob("*.md") if not NOT_OURS & set(path.relative_to(root).parts)}
    links = {page: list(_links(page)) for page in pages}
    found = []
    for page in sorted(pages):
        for target, anchor in links[page]:
            if not target.exists():
                found.append(f"{page.relative_to(root)} links to {target.name}, which does not exist")
            elif anchor and target.suffix == ".md" and anchor not in _anchors(target):
                found.append(f"{page.relative_to(root)} links to {target.name}#{anchor}, which has no such heading")
    reached = _reached(root.resolve() / "README.md", links)
    unreached = [page for page in pages if (root / "docs").resolve() in page.parents and page not in reached]
    return found + [f"{page.relative_to(root)} cannot be reached from README.md" for page in sorted(unreached)]


def _links(page: Path) -> list[tuple[Path, str]]:
    """Targets of the relative links of a page, with their anchors."""
    targets = []
    for link in LINK.findall(FENCE.sub("", page.read_text())):
        if "://" in link or link.startswith("mailto:"):
            continue
        path, _, anchor = link.partition("#")
        targets.append(((page.parent / path).resolve() if path else page, anchor))
    return targets


def _anchors(page: Path) -> set[str]:
    """Anchors as the usual viewers make them from headings."""
    names = set()
    for heading in HEADING.findall(page.read_text()):
        plain = re.sub(r"[`*]|\[([^\]]*)\]\([^)]*\)", lambda match: match[1] or "", heading).lower()
        names.add(re.sub(r"\s", "-", re.sub(r"[^\w\s-]", "", plain)))
    return names


def _reached(start: Path, links: dict[Path, list[tuple[Path, str]]]) -> set[Path]:
    reached, waiting = {start}, [start]
    while waiting:
        for target, _ in links.get(waiting.pop(), []):
            inside = sorted(target.glob("*.md")) if target.is_dir() else [target]
            for page in inside:
                if page not in reached:
                    reached.add(page)
                    waiting.append(page)
    return reached
