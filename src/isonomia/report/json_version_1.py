"""Reports of schema version 1, which kept English texts instead of templates and flat tables, in the present shape."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from isonomia.evidence import Column, Estimate, Table
from isonomia.languages import Message, encode
from isonomia.languages.encoding import KIND

#: How the advice of version 1 began, and the remedy it is now; codes of findings that have another name now.
_ADVICE = {
    "Look at the pairs,": "retrain_without_pairs",
    "Measure it": "confirm_on_new_rows",
    "See whether the labels": "explain_differing_labels",
    "Leaving the": "examine_proxies",
    "Look at the rows": "compare_with_neighbours",
    "Collect more rows of the": "collect_rows_or_widen_margin",
    "Recalibrate": "recalibrate_by_group",
    "Look at the pairs listed,": "choose_fair_distance",
    "Leave the attribute": "remove_attribute",
    "Collect more rows of this": "collect_rows",
    "Find out what": "explain_change",
    "Find out why;": "explain_missing_values",
    "Ask how the": "question_labels",
    "Check the labels": "check_labels_and_features",
    "Find out why before": "measure_on_current_rows",
    "Review these": "review_confident_errors",
    "Look at these": "review_rows",
    "Train with more": "regularise",
    "Set the width": "calibrate_width_by_group",
    "Say beforehand": "choose_metric_beforehand",
    "Ask how likely": "monitor_scenario",
    "Even-handedness": "measure_fairness_again",
    "One threshold": "set_thresholds_by_group",
    "Judge the model": "judge_by_stable_metrics",
    "Do not read": "read_other_metrics_too",
    "Small, valid": "harden_inputs",
    "Have people": "review_borderline_cases",
    "This group": "improve_group_data",
    "Train with such": "train_with_noise",
    "The model leans": "verify_feature",
    "Decide what": "handle_invalid_rows",
    "Choose which": "choose_criterion",
    "Look at the groups": "compare_base_rates",
    "See whether the base": "check_base_rates",
    "Look at the decision": "check_threshold_and_labels",
    "Look at what": "review_false_positives",
    "Check how well": "check_representation",
    "The model is": "correct_bias",
}
_CODES = {"proxies.told": "proxies.predictable"}
_ESTIMATE = {"value", "low", "high", "n", "method", "note", "level"}


def upgraded(record: Mapping[str, Any]) -> dict[str, Any]:
    """A record of version 1.x as one of the present version; what version 1 did not keep stays empty.

    Its sentences are templates where version 1 kept those (findings); everything else is English in every language.
    """
    sheet = record["balance_sheet"]
    protected = record["subject"].get("protected", ())
    return {
        **record,
        "language": "en",
        "policy": None,
        "verdict": {**record["verdict"], "criteria": [_criterion(given) for given in record["verdict"]["criteria"]]},
        "findings": [_finding(given) for given in record["findings"]],
        "checks": {code: _check(given, protected) for code, given in record["checks"].items()},
        "balance_sheet": None if sheet is None else _result(sheet),
    }


def _finding(given: Mapping[str, Any]) -> dict[str, Any]:
    advice = given.get("advice") or {}
    remedy = next((name for start, name in _ADVICE.items() if advice.get("template", "").startswith(start)), None)
    return {
        **given,
        "code": _CODES.get(given["code"], given["code"]),
        "message": _message(given["message"]),
        "estimate": _estimate(given["estimate"]),
        "remedy": remedy,
    }


def _criterion(given: Mapping[str, Any]) -> dict[str, Any]:
    return {KIND: "criterion", **given, "estimate": _estimate(given["estimate"])}


def _check(given: Mapping[str, Any], protected: Sequence[str]) -> dict[str, Any]:
    result = _result(given, protected) if given["outcome"] in ("issue", "passed") else None
    return {
        "code": given["code"],
        "title": _text(given["title"]),
        "purpose": _text(given["purpose"]),
        "outcome": given["outcome"],
        "reason": given["reason"],
        "findings": given["findings"],
        "result": result,
    }


def _result(given: Mapping[str, Any], protected: Sequence[str] = ()) -> dict[str, Any]:
    return {
        "code": given["code"],
        "title": _text(given["title"]),
        "tables": {name: encode(_table(table, protected)) for name, table in given["tables"].items()},
        "values": {name: _value(value) for name, value in given["values"].items()},
        "pictures": [{KIND: "picture", **picture, "title": _text(picture["title"])} for picture in given["pictures"]],
        "notes": [_text(note) for note in given["notes"]],
    }


def _table(given: Mapping[str, Any], protected: Sequence[str]) -> Table:
    names, formats = given["columns"], given["formats"]
    values: dict[str, Sequence[Any]] = dict(zip(names, zip(*given["rows"], strict=True), strict=False))
    columns = [Column(name, list(values.get(name, ())), format=formats.get(name)) for name in names]
    ends = {end for column in columns if set(column.ends) <= set(names) for end in column.ends}
    joined = (_joined(column, values) if set(column.ends) <= set(names) else column for column in columns)
    title = None if given["title"] is None else Message.literal(given["title"])
    table = Table(tuple(column for column in joined if column.name not in ends), title)
    if not {"group", *protected} <= set(names):
        return table
    keys = [tuple((name, str(row[name])) for name in protected if row[name] is not None) for row in table.rows()]
    return table.with_columns(replace(table["group"], keys=keys))


def _joined(column: Column, values: Mapping[str, Sequence[Any]]) -> Column:
    low, high = (list(values.get(end, ())) for end in column.ends)
    return Column(column.name, column.values, low, high, format=column.format)


def _value(given: Any) -> Any:
    if isinstance(given, Mapping):
        return _estimate(given) if set(given) == _ESTIMATE else {name: _value(item) for name, item in given.items()}
    return given


def _estimate(given: Mapping[str, Any]) -> Any:
    return encode(Estimate(**{name: given[name] for name in _ESTIMATE}))


def _message(given: Mapping[str, Any]) -> dict[str, Any]:
    """A sentence with its template; sentences within it as well."""
    params = {
        name: _message(value) if isinstance(value, Mapping) and "template" in value else value
        for name, value in given["params"].items()
    }
    return {KIND: "message", **given, "params": params}


def _text(text: str) -> Any:
    return encode(Message.literal(text))
