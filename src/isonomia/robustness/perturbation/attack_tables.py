"""The worst case as a table, a finding and a picture."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from isonomia.data import Backend
from isonomia.evidence import Estimate, Finding, Picture, Table
from isonomia.languages import Message, msg
from isonomia.robustness.perturbation.perturb_tables import share, span_of, table_of

if TYPE_CHECKING:
    from isonomia.robustness.perturbation.adversary import Attack
    from isonomia.robustness.perturbation.perturb import Study


def ways() -> dict[str, Message]:
    """How the worst case was searched for, as a message."""
    return {"gradient": msg("gradient"), "scores": msg("scores"), "decisions": msg("decisions")}


def attack_table(study: Study, backend: Backend | None) -> Table:
    """A row a level."""
    metric, base = study.trials.measures.metrics[0], float(study.trials.base.value[0, 0])
    attacks = study.attacks
    columns: dict[str, Any] = {
        "level": np.array([one.level for one in attacks]),
        "way": [ways()[one.way] for one in attacks],
        "base": np.full(len(attacks), base),
    }
    names = ("value", "drop", "drop_low", "drop_high", "flips", "flips_low", "flips_high", "change", "queries")
    fields = {"drop_low": "low", "drop_high": "high"}
    columns |= {name: np.array([getattr(one, fields.get(name, name)) for one in attacks]) for name in names}
    if np.isnan(columns["flips"]).all():
        columns = {name: values for name, values in columns.items() if not name.startswith("flips")}
    columns["note"] = [
        msg("no value: {reason}", reason=metric.undefined) if np.isnan(one.value) else None for one in attacks
    ]
    columns["loss"] = share(columns["drop"], span_of(metric, base))
    table = table_of(columns, metric, msg("The worst case found within each level"), backend)
    return table.with_columns(
        replace(table["way"], title=msg("Search method")),
        replace(table["queries"], title=msg("Queries per row"), format="num"),
    )


def attack_findings(study: Study) -> list[Finding]:
    """The lowest level at which the worst case costs surely more than the tolerance."""
    metric, base = study.trials.measures.metrics[0], float(study.trials.base.value[0, 0])
    span = span_of(metric, base)
    hit = next((one for one in study.attacks if _low(one, span) > study.tolerance), None)
    if hit is None:
        return []
    n = len(study.trials.altering)
    gaps = {"metric": metric.title, "base": base, "value": hit.value, "level": hit.level, "flips": hit.flips, "n": n}
    loss = hit.drop / span if span > 0 else 1.0
    return [
        Finding(
            "perturb.adversarial",
            "notice",
            _sentence(gaps, metric.format == "pct"),
            Estimate(hit.drop, hit.low, hit.high, n=n, method="normal", level=study.trials.level),
            n=n,
            magnitude=loss / study.tolerance if study.tolerance > 0 else 1.0 + loss,
            threshold=study.tolerance * span if span > 0 else study.tolerance,
            evidence="perturb/adversarial",
            format="points" if metric.format == "pct" else metric.format,
            remedy="harden_inputs",
        )
    ]


def _sentence(gaps: dict[str, Any], rate: bool) -> Message:
    if rate and not np.isnan(gaps["flips"]):
        return msg(
            "Changing each number by at most {level:num} standard deviations flips {flips:pct} of decisions; {metric} "
            "goes from {base:pct} to {value:pct} ({n:# row|# rows}).",
            **gaps,
        )
    return msg(
        "Changing each number by at most {level:num} standard deviations takes {metric} from {base:num} to "
        "{value:num} ({n:# row|# rows}).",
        **gaps,
    )


def _low(one: Attack, span: float) -> float:
    if not np.isfinite(one.low):
        return -np.inf
    return one.low / span if span > 0 else (np.inf if one.low > 0 else -np.inf)


def attack_pictures(study: Study) -> list[Picture]:
    """Decisions that an adversary flips, or the loss, by level."""
    if len(study.attacks) < 2:
        return []
    value = "drop" if np.isnan(study.attacks[0].flips) else "flips"
    title = msg("Decisions that the worst case flips, by level") if value == "flips" else msg("Loss in the worst case")
    return [Picture("lines", "adversarial", title, {"x": "level", "value": value})]
