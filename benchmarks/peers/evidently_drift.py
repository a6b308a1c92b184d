"""Evidently's preset for drift: for each column, whether it says that it has drifted."""

import re

from driver import answer
from evidently import Report
from evidently.presets import DataDriftPreset


def prepare(frame, options):
    current = frame.pop("current").to_numpy(dtype=bool)
    return frame[~current].reset_index(drop=True), frame[current].reset_index(drop=True)


def work(prepared):
    reference, current = prepared
    return Report([DataDriftPreset()]).run(current, reference).dict()


def values(result):
    found = {}
    for metric in result["metrics"]:
        told = re.fullmatch(r"ValueDrift\(column=(.+),method=(.+),threshold=(.+)\)", metric["metric_name"])
        if told:
            column, method, threshold = told.groups()
            is_p_value = "p_value" in method
            value = float(metric["value"])
            found[column] = value < float(threshold) if is_p_value else value >= float(threshold)
            found[f"{column}: {method}"] = value
    return found


answer("evidently", prepare=prepare, work=work, values=values)
