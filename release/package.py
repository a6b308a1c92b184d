"""What a package says about itself away from its repository: addresses, and links that hold anywhere."""

from __future__ import annotations

import re
from pathlib import Path

#: A link of Markdown to a file of the repository: neither an address nor a part of the same page.
LINK = re.compile(r"(?<=\])\((?!https?:|mailto:|#)([^)\s#]+)(#[^)\s]*)?\)")


def absolute_links(text: str, repository: str, version: str) -> str:
    """Links to files of the repository, as addresses of this version.

    >>> absolute_links("[why](docs/a.md#x), [here](#y)", "https://host/isonomia", "0.1.0")
    '[why](https://host/isonomia/blob/v0.1.0/docs/a.md#x), [here](#y)'
    """
    base = f"{repository.rstrip('/')}/blob/v{version}"
    return LINK.sub(lambda found: f"({base}/{found[1]}{found[2] or ''})", text)


def with_addresses(source: Path, repository: str, version: str) -> None:
    """Give a copy of the source its addresses: in the README, and in the project's metadata."""
    readme = source / "README.md"
    readme.write_text(absolute_links(readme.read_text(encoding="utf-8"), repository, version), encoding="utf-8")
    project = source / "pyproject.toml"
    base = repository.rstrip("/")
    urls = {
        "Homepage": base,
        "Documentation": f"{base}/blob/v{version}/docs/README.md",
        "Changelog": f"{base}/blob/v{version}/CHANGELOG.md",
        "Source": base,
        "Issues": f"{base}/issues",
    }
    lines = "\n".join(f'{name} = "{address}"' for name, address in urls.items())
    text = project.read_text(encoding="utf-8")
    project.write_text(f"{text.rstrip()}\n\n[project.urls]\n{lines}\n", encoding="utf-8")
