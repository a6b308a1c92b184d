"""The tables of a store. `migrations/` makes them; a test compares the two."""

from __future__ import annotations

from typing import Any

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Double,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    Text,
)

from isonomia.store.types import Body, Moment

#: Names for constraints, without which SQLite could not alter a table later.
metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s",
        "pk": "pk_%(table_name)s",
    }
)


def _numbers(*names: str) -> list[Column[Any]]:
    return [Column(name, Double) for name in names]


def _counts(*names: str) -> list[Column[Any]]:
    return [Column(name, BigInteger) for name in names]


def _texts(*names: str) -> list[Column[Any]]:
    return [Column(name, Text) for name in names]


def _of_run() -> Column[Any]:
    return Column("run", String(36), ForeignKey("run.id", ondelete="CASCADE"), primary_key=True)


def _leased() -> list[Column[Any]]:
    """Work that one of several processes does: see `leases`."""
    return [
        Column("state", String(16), nullable=False),
        Column("position", Integer, nullable=False),
        *_texts("lease_owner"),
        Column("lease_token", String(36)),
        Column("lease_until", Moment),
        Column("attempts", Integer, nullable=False),
        Column("created", Moment, nullable=False),
        Column("finished", Moment),
        Column("spec", Body, nullable=False),
        Column("error", Body),
    ]


analysis = Table(
    "analysis",
    metadata,
    Column("slug", String(100), primary_key=True),
    *_texts("title", "owner"),
    Column("baseline_run", String(36)),
    Column("created", Moment, nullable=False),
    Column("tags", Body),
)

run = Table(
    "run",
    metadata,
    Column("id", String(36), primary_key=True),
    Column("analysis", String(100), ForeignKey("analysis.slug"), nullable=False),
    Column("kind", String(16), nullable=False),
    Column("state", String(16), nullable=False),
    Column("created", Moment, nullable=False),
    Column("finished", Moment),
    *_texts("dataset_fp", "model_fp", "spec_hash", "policy_id", "policy_hash"),
    *_counts("seed"),
    *_texts("version", "schema_version", "task"),
    *_counts("rows"),
    *_texts("verdict", "worst"),
    *_counts("n_findings"),
    *_texts("signed_by"),
    Column("signed_at", Moment),
    Column("question", String(64)),
    Column("record", LargeBinary, nullable=False),
    Column("record_sha256", String(64), nullable=False),
    Index(None, "analysis", "created", "id"),
    Index(None, "question", "created"),
    Index("ix_run_list", "created", "id"),
    Index(None, "record_sha256"),
)

outcome = Table(
    "outcome",
    metadata,
    _of_run(),
    Column("check", Text, primary_key=True),
    Column("outcome", String(20), nullable=False),
    *_numbers("seconds"),
    Column("reason", Body),
)

criterion = Table(
    "criterion",
    metadata,
    _of_run(),
    Column("place", Integer, primary_key=True),
    Column("name", Text, nullable=False),
    Column("who_key", Text, nullable=False),
    Column("outcome", String(20), nullable=False),
    *_numbers("value", "low", "high", "threshold"),
    *_texts("citation"),
)

finding = Table(
    "finding",
    metadata,
    _of_run(),
    Column("place", Integer, primary_key=True),
    Column("code", Text, nullable=False),
    Column("check", Text, nullable=False),
    Column("severity", String(16), nullable=False),
    Column("who_key", Text, nullable=False),
    *_counts("n"),
    *_numbers("value", "low", "high", "magnitude", "p_adjusted"),
    *_counts("fold"),
    Column("message", Body, nullable=False),
)

figure = Table(
    "figure",
    metadata,
    Column("analysis", String(100), nullable=False),
    _of_run(),
    Column("place", Integer, primary_key=True),
    Column("at", Moment, nullable=False),
    Column("metric", Text, nullable=False),
    Column("measure", String(20), nullable=False),
    Column("attribute", Text, nullable=False),
    Column("who_key", Text, nullable=False),
    *_numbers("value", "low", "high", "se"),
    *_counts("n"),
    Index("ix_figure_trend", "analysis", "metric", "measure", "who_key", "at"),
)

cells = Table(
    "cells",
    metadata,
    _of_run(),
    Column("name", String(100), primary_key=True),
    Column("record", LargeBinary, nullable=False),
    Column("record_sha256", String(64), nullable=False),
)

cell = Table(
    "cell",
    metadata,
    Column("key", String(64), primary_key=True),
    Column("benchmark", String(100), nullable=False),
    *_leased(),
    *_counts("intersectionality", "granularity"),
    *_numbers("similarity", "bias", "aleatoric", "epistemic"),
    *_counts("group_rows", "background", "n_pairs"),
    *_texts("model", "task", "falls_on", "source", "method", "method_version", "budget"),
    *_counts("data_seed", "method_seed"),
    *_numbers("seconds", "cpu", "model_rows", "model_calls", "peak_mb"),
    *_numbers("precision", "recall", "f1", "ap", "mrr", "best_jaccard", "coverage", "validity"),
    Column("record", Body),
    Index("ix_cell_claim", "benchmark", "state", "position"),
    Index("ix_cell_list", "benchmark", "position"),
)

job = Table(
    "job",
    metadata,
    Column("key", String(36), primary_key=True),
    Column("queue", String(100), nullable=False),
    *_leased(),
    *_texts("stage"),
    *_counts("done", "total"),
    Column("cancel", Boolean, nullable=False),
    Column("run", String(36)),
    Index("ix_job_claim", "queue", "state", "position"),
    Index("ix_job_list", "queue", "created"),
)

job_event = Table(
    "job_event",
    metadata,
    Column("job", String(36), ForeignKey("job.key", ondelete="CASCADE"), primary_key=True),
    Column("seq", Integer, primary_key=True),
    Column("at", Moment, nullable=False),
    Column("body", Body, nullable=False),
)

log = Table(
    "log",
    metadata,
    Column("id", String(36), primary_key=True),
    Column("at", Moment, nullable=False),
    Column("actor", Text, nullable=False),
    Column("action", String(40), nullable=False),
    Column("object", Text, nullable=False),
    Column("note", Body),
    Index(None, "at"),
)

trained = Table(
    "trained",
    metadata,
    Column("key", String(64), primary_key=True),
    Column("kind", String(40), nullable=False),
    Column("created", Moment, nullable=False),
    Column("record", LargeBinary, nullable=False),
    Column("record_sha256", String(64), nullable=False),
)

watch = Table(
    "watch",
    metadata,
    Column("id", String(36), primary_key=True),
    Column("analysis", String(100), ForeignKey("analysis.slug"), nullable=False),
    Column("rule", String(16), nullable=False),
    *_texts("metric"),
    Column("measure", String(20)),
    *_texts("attribute", "who_key"),
    Column("active", Boolean, nullable=False),
    Column("created", Moment, nullable=False),
    Column("owner", Text, nullable=False),
    Index(None, "analysis", "active"),
)

alert = Table(
    "alert",
    metadata,
    Column("id", String(36), primary_key=True),
    Column("analysis", String(100), nullable=False),
    Column("watch", String(36), ForeignKey("watch.id"), nullable=False),
    Column("run", String(36), ForeignKey("run.id", ondelete="CASCADE"), nullable=False),
    Column("at", Moment, nullable=False),
    Column("state", String(16), nullable=False),
    Column("direction", String(16), nullable=False),
    *_texts("metric"),
    Column("measure", String(20)),
    *_texts("attribute", "who_key"),
    *_numbers("value", "expected", "statistic", "critical"),
    Column("message", Body, nullable=False),
    *_texts("closed_by", "note"),
    Column("closed_at", Moment),
    Index(None, "analysis", "state", "at"),
    Index(None, "run"),
)
