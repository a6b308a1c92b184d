"""Watches and their alerts, what was trained for searches, and indexes for lists of all runs."""

import sqlalchemy as sa
from alembic import op

from isonomia.store.types import Body, Moment

revision = "r2"
down_revision = "r1"


def upgrade() -> None:
    """Make the tables and the indexes."""
    op.create_table(
        "trained",
        sa.Column("key", sa.String(length=64), nullable=False),
        sa.Column("kind", sa.String(length=40), nullable=False),
        sa.Column("created", Moment(), nullable=False),
        sa.Column("record", sa.LargeBinary(), nullable=False),
        sa.Column("record_sha256", sa.String(length=64), nullable=False),
        sa.PrimaryKeyConstraint("key", name="pk_trained"),
    )
    op.create_table(
        "watch",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("analysis", sa.String(length=100), nullable=False),
        sa.Column("rule", sa.String(length=16), nullable=False),
        sa.Column("metric", sa.Text()),
        sa.Column("measure", sa.String(length=20)),
        sa.Column("attribute", sa.Text()),
        sa.Column("who_key", sa.Text()),
        sa.Column("active", sa.Boolean(), nullable=False),
        sa.Column("created", Moment(), nullable=False),
        sa.Column("owner", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["analysis"], ["analysis.slug"], name="fk_watch_analysis"),
        sa.PrimaryKeyConstraint("id", name="pk_watch"),
    )
    op.create_index("ix_watch_analysis_active", "watch", ["analysis", "active"])
    op.create_table(
        "alert",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("analysis", sa.String(length=100), nullable=False),
        sa.Column("watch", sa.String(length=36), nullable=False),
        sa.Column("run", sa.String(length=36), nullable=False),
        sa.Column("at", Moment(), nullable=False),
        sa.Column("state", sa.String(length=16), nullable=False),
        sa.Column("direction", sa.String(length=16), nullable=False),
        sa.Column("metric", sa.Text()),
        sa.Column("measure", sa.String(length=20)),
        sa.Column("attribute", sa.Text()),
        sa.Column("who_key", sa.Text()),
        sa.Column("value", sa.Double()),
        sa.Column("expected", sa.Double()),
        sa.Column("statistic", sa.Double()),
        sa.Column("critical", sa.Double()),
        sa.Column("message", Body(), nullable=False),
        sa.Column("closed_by", sa.Text()),
        sa.Column("note", sa.Text()),
        sa.Column("closed_at", Moment()),
        sa.ForeignKeyConstraint(["run"], ["run.id"], name="fk_alert_run", ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["watch"], ["watch.id"], name="fk_alert_watch"),
        sa.PrimaryKeyConstraint("id", name="pk_alert"),
    )
    op.create_index("ix_alert_analysis_state_at", "alert", ["analysis", "state", "at"])
    op.create_index("ix_alert_run", "alert", ["run"])
    op.create_index("ix_run_list", "run", ["created", "id"])
    op.create_index("ix_run_record_sha256", "run", ["record_sha256"])
