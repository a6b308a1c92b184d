"""The packages that a store needs: without them, importing this room says how to install them."""

from __future__ import annotations

from isonomia.errors import require

for package in ("sqlalchemy", "alembic"):
    require(package, extra="store", purpose="Keeping runs in a store")
