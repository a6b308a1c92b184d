"""The first tables: analyses, runs and what they found, figures, watches, benchmark cells, jobs, the log."""

import sqlalchemy as sa
from alembic import op

from isonomia.store.types import Body, Moment

revision = "r1"
down_revision = None


def upgrade() -> None:
    """Make the tables."""
    op.create_table(
        "analysis",
        sa.Column("slug", sa.String(length=100), nullable=False),
        sa.Column("title", sa.Text()),
        sa.Column("owner", sa.Text()),
        sa.Column("baseline_run", sa.String(length=36)),
        sa.Column("created", Moment(), nullable=False),
        sa.Column("tags", Body()),
        sa.PrimaryKeyConstraint("slug", name="pk_analysis"),
    )
    op.create_table(
        "cell",
        sa.Column("key", sa.String(length=64), nullable=False),
        sa.Column("benchmark", sa.String(length=100), nullable=False),
        sa.Column("state", sa.String(length=16), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("lease_owner", sa.Text()),
        sa.Column("lease_token", sa.String(length=36)),
        sa.Column("lease_until", Moment()),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("created", Moment(), nullable=False),
        sa.Column("finished", Moment()),
        sa.Column("spec", Body(), nullable=False),
        sa.Column("error", Body()),
        sa.Column("intersectionality", sa.BigInteger()),
        sa.Column("granularity", sa.BigInteger()),
        sa.Column("similarity", sa.Double()),
        sa.Column("bias", sa.Double()),
        sa.Column("aleatoric", sa.Double()),
        sa.Column("epistemic", sa.Double()),
        sa.Column("group_rows", sa.BigInteger()),
        sa.Column("background", sa.BigInteger()),
        sa.Column("n_pairs", sa.BigInteger()),
        sa.Column("model", sa.Text()),
        sa.Column("task", sa.Text()),
        sa.Column("falls_on", sa.Text()),
        sa.Column("source", sa.Text()),
        sa.Column("method", sa.Text()),
        sa.Column("method_version", sa.Text()),
        sa.Column("budget", sa.Text()),
        sa.Column("data_seed", sa.BigInteger()),
        sa.Column("method_seed", sa.BigInteger()),
        sa.Column("seconds", sa.Double()),
        sa.Column("cpu", sa.Double()),
        sa.Column("model_rows", sa.Double()),
        sa.Column("model_calls", sa.Double()),
        sa.Column("peak_mb", sa.Double()),
        sa.Column("precision", sa.Double()),
        sa.Column("recall", sa.Double()),
        sa.Column("f1", sa.Double()),
        sa.Column("ap", sa.Double()),
        sa.Column("mrr", sa.Double()),
        sa.Column("best_jaccard", sa.Double()),
        sa.Column("coverage", sa.Double()),
        sa.Column("validity", sa.Double()),
        sa.Column("record", Body()),
        sa.PrimaryKeyConstraint("key", name="pk_cell"),
    )
    op.create_index("ix_cell_claim", "cell", ["benchmark", "state", "position"])
    op.create_index("ix_cell_list", "cell", ["benchmark", "position"])
    op.create_table(
        "job",
        sa.Column("key", sa.String(length=36), nullable=False),
        sa.Column("queue", sa.String(length=100), nullable=False),
        sa.Column("state", sa.String(length=16), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("lease_owner", sa.Text()),
        sa.Column("lease_token", sa.String(length=36)),
        sa.Column("lease_until", Moment()),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("created", Moment(), nullable=False),
        sa.Column("finished", Moment()),
        sa.Column("spec", Body(), nullable=False),
        sa.Column("error", Body()),
        sa.Column("stage", sa.Text()),
        sa.Column("done", sa.BigInteger()),
        sa.Column("total", sa.BigInteger()),
        sa.Column("cancel", sa.Boolean(), nullable=False),
        sa.Column("run", sa.String(length=36)),
        sa.PrimaryKeyConstraint("key", name="pk_job"),
    )
    op.create_index("ix_job_claim", "job", ["queue", "state", "position"])
    op.create_index("ix_job_list", "job", ["queue", "created"])
    op.create_table(
        "log",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("at", Moment(), nullable=False),
        sa.Column("actor", sa.Text(), nullable=False),
        sa.Column("action", sa.String(length=40), nullable=False),
        sa.Column("object", sa.Text(), nullable=False),
        sa.Column("note", Body()),
        sa.PrimaryKeyConstraint("id", name="pk_log"),
    )
    op.create_index("ix_log_at", "log", ["at"])
    op.create_table(
        "job_event",
        sa.Column("job", sa.String(length=36), nullable=False),
        sa.Column("seq", sa.Integer(), nullable=False),
        sa.Column("at", Moment(), nullable=False),
        sa.Column("body", Body(), nullable=False),
        sa.ForeignKeyConstraint(["job"], ["job.key"], name="fk_job_event_job", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("job", "seq", name="pk_job_event"),
    )
    op.create_table(
        "run",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("analysis", sa.String(length=100), nullable=False),
        sa.Column("kind", sa.String(length=16), nullable=False),
        sa.Column("state", sa.String(length=16), nullable=False),
        sa.Column("created", Moment(), nullable=False),
        sa.Column("finished", Moment()),
        sa.Column("dataset_fp", sa.Text()),
        sa.Column("model_fp", sa.Text()),
        sa.Column("spec_hash", sa.Text()),
        sa.Column("policy_id", sa.Text()),
        sa.Column("policy_hash", sa.Text()),
        sa.Column("seed", sa.BigInteger()),
        sa.Column("version", sa.Text()),
        sa.Column("schema_version", sa.Text()),
        sa.Column("task", sa.Text()),
        sa.Column("rows", sa.BigInteger()),
        sa.Column("verdict", sa.Text()),
        sa.Column("worst", sa.Text()),
        sa.Column("n_findings", sa.BigInteger()),
        sa.Column("signed_by", sa.Text()),
        sa.Column("signed_at", Moment()),
        sa.Column("question", sa.String(length=64)),
        sa.Column("record", sa.LargeBinary(), nullable=False),
        sa.Column("record_sha256", sa.String(length=64), nullable=False),
        sa.ForeignKeyConstraint(["analysis"], ["analysis.slug"], name="fk_run_analysis"),
        sa.PrimaryKeyConstraint("id", name="pk_run"),
    )
    op.create_index("ix_run_analysis_created_id", "run", ["analysis", "created", "id"])
    op.create_index("ix_run_question_created", "run", ["question", "created"])
    op.create_table(
        "cells",
        sa.Column("run", sa.String(length=36), nullable=False),
        sa.Column("name", sa.String(length=100), nullable=False),
        sa.Column("record", sa.LargeBinary(), nullable=False),
        sa.Column("record_sha256", sa.String(length=64), nullable=False),
        sa.ForeignKeyConstraint(["run"], ["run.id"], name="fk_cells_run", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("run", "name", name="pk_cells"),
    )
    op.create_table(
        "criterion",
        sa.Column("run", sa.String(length=36), nullable=False),
        sa.Column("place", sa.Integer(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("who_key", sa.Text(), nullable=False),
        sa.Column("outcome", sa.String(length=20), nullable=False),
        sa.Column("value", sa.Double()),
        sa.Column("low", sa.Double()),
        sa.Column("high", sa.Double()),
        sa.Column("threshold", sa.Double()),
        sa.Column("citation", sa.Text()),
        sa.ForeignKeyConstraint(["run"], ["run.id"], name="fk_criterion_run", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("run", "place", name="pk_criterion"),
    )
    op.create_table(
        "figure",
        sa.Column("analysis", sa.String(length=100), nullable=False),
        sa.Column("run", sa.String(length=36), nullable=False),
        sa.Column("place", sa.Integer(), nullable=False),
        sa.Column("at", Moment(), nullable=False),
        sa.Column("metric", sa.Text(), nullable=False),
        sa.Column("measure", sa.String(length=20), nullable=False),
        sa.Column("attribute", sa.Text(), nullable=False),
        sa.Column("who_key", sa.Text(), nullable=False),
        sa.Column("value", sa.Double()),
        sa.Column("low", sa.Double()),
        sa.Column("high", sa.Double()),
        sa.Column("se", sa.Double()),
        sa.Column("n", sa.BigInteger()),
        sa.ForeignKeyConstraint(["run"], ["run.id"], name="fk_figure_run", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("run", "place", name="pk_figure"),
    )
    op.create_index("ix_figure_trend", "figure", ["analysis", "metric", "measure", "who_key", "at"])
    op.create_table(
        "finding",
        sa.Column("run", sa.String(length=36), nullable=False),
        sa.Column("place", sa.Integer(), nullable=False),
        sa.Column("code", sa.Text(), nullable=False),
        sa.Column("check", sa.Text(), nullable=False),
        sa.Column("severity", sa.String(length=16), nullable=False),
        sa.Column("who_key", sa.Text(), nullable=False),
        sa.Column("n", sa.BigInteger()),
        sa.Column("value", sa.Double()),
        sa.Column("low", sa.Double()),
        sa.Column("high", sa.Double()),
        sa.Column("magnitude", sa.Double()),
        sa.Column("p_adjusted", sa.Double()),
        sa.Column("fold", sa.BigInteger()),
        sa.Column("message", Body(), nullable=False),
        sa.ForeignKeyConstraint(["run"], ["run.id"], name="fk_finding_run", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("run", "place", name="pk_finding"),
    )
    op.create_table(
        "outcome",
        sa.Column("run", sa.String(length=36), nullable=False),
        sa.Column("check", sa.Text(), nullable=False),
        sa.Column("outcome", sa.String(length=20), nullable=False),
        sa.Column("seconds", sa.Double()),
        sa.Column("reason", Body()),
        sa.ForeignKeyConstraint(["run"], ["run.id"], name="fk_outcome_run", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("run", "check", name="pk_outcome"),
    )
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
