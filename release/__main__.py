"""Prepare a release: `python -m release REPOSITORY`.

Builds the source distribution and the wheel of what is committed, with links that hold away from the repository, checks
them, and writes the notes and the hashes beside them into `dist/`. It pushes nothing: the last lines say what to type.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

from doors.installs import ROOT, build, left_out, run

from release.package import absolute_links, with_addresses
from release.texts import notes_of, undated, version_of

#: Files that every release has beside the package itself.
WANTED = ("README.md", "LICENSE", "CHANGELOG.md", "pyproject.toml")


def problems(version: str, changelog: str) -> Iterator[str]:
    """Why this tree cannot be released."""
    if run("git", "status", "--porcelain").strip():
        yield "There are uncommitted changes. Commit them, or put them aside."
    if run("git", "tag", "--list", f"v{version}").strip():
        yield f"The tag v{version} is there already. Give src/isonomia/_version.py the next version."
    if not notes_of(changelog, version):
        yield f"CHANGELOG.md has no part '## [{version}]'."
    elif undated(changelog, version):
        yield f"The part '## [{version}]' of CHANGELOG.md has no date: '## [{version}] - 2026-12-01'."


def main(repository: str) -> int:
    """The exit code: 0 where all is ready."""
    if not repository.startswith("https://"):
        print("Name the public address of the repository: make release REPOSITORY=https://...", file=sys.stderr)
        return 2
    version = version_of((ROOT / "src/isonomia/_version.py").read_text(encoding="utf-8"))
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    found = list(problems(version, changelog))
    if found:
        print("\n".join(found), file=sys.stderr)
        return 1
    uv = Path(os.environ.get("UV") or shutil.which("uv") or "uv")
    os.environ["SOURCE_DATE_EPOCH"] = run("git", "log", "-1", "--format=%ct").strip()
    dist = ROOT / "dist"
    shutil.rmtree(dist, ignore_errors=True)
    wheel = build(uv, dist, lambda source: with_addresses(source, repository, version))
    missing = left_out(wheel)
    if missing:
        print(f"The wheel does not hold {', '.join(missing)}.", file=sys.stderr)
        return 1
    shutil.rmtree(dist / "source")
    (dist / "NOTES.md").write_text(absolute_links(notes_of(changelog, version), repository, version), encoding="utf-8")
    built = sorted(path for path in (dist / "dist").iterdir() if path.suffix in (".whl", ".gz"))
    lines = [f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}" for path in built]
    (dist / "SHA256SUMS").write_text("\n".join(lines) + "\n", encoding="utf-8")
    for path in built:
        path.rename(dist / path.name)
    shutil.rmtree(dist / "dist")
    print("\n".join(lines))
    print(f"Ready in {dist.relative_to(ROOT)}. Nothing was pushed. To tag it:")
    print(f"  git tag --annotate v{version} --file dist/NOTES.md --cleanup=verbatim && git push origin v{version}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1] if len(sys.argv) > 1 else ""))
