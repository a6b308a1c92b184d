"""The server that tests of PostgreSQL start."""

from __future__ import annotations

import psycopg
import pytest
from tests.postgres_cluster import GUARDED, PASSWORD, PostgresCluster, postgres_cluster

pytestmark = pytest.mark.postgres


def test_a_database_is_new_and_empty(postgres: PostgresCluster, postgres_url: str) -> None:
    with postgres.database() as other, psycopg.connect(postgres_url) as first, psycopg.connect(other) as second:
        first.execute("CREATE TABLE people (id int)")
        tables = "SELECT count(*) FROM information_schema.tables WHERE table_name = 'people'"
        assert first.execute(tables).fetchone() == (1,)
        assert second.execute(tables).fetchone() == (0,)


def test_the_guarded_role_needs_its_password(postgres: PostgresCluster) -> None:
    with psycopg.connect(postgres.url(user=GUARDED, password=PASSWORD)) as connection:
        assert connection.execute("SELECT current_user").fetchone() == (GUARDED,)
    with pytest.raises(psycopg.OperationalError, match="password authentication failed"):
        psycopg.connect(postgres.url(user=GUARDED, password="wrong"))


def test_what_was_committed_outlives_a_crash() -> None:
    with postgres_cluster(fsync=True) as cluster:
        with psycopg.connect(cluster.url()) as connection:
            connection.execute("CREATE TABLE kept (x int)")
            connection.execute("INSERT INTO kept VALUES (7)")
        cluster.crash()
        cluster.start()
        assert cluster.execute("SELECT x FROM kept") == "7"
