"""The sliceline package: the scores of its best slices."""

import warnings

from driver import answer
from sliceline.slicefinder import Slicefinder


def prepare(frame, options):
    columns = [name for name in frame.columns if name not in ("label", "prediction", "error")]
    return frame[columns].to_numpy(), frame["error"].to_numpy(), options


def work(prepared):
    features, errors, options = prepared
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        finder = Slicefinder(
            alpha=options["alpha"],
            k=options["k"],
            max_l=options["max_l"],
            min_sup=options["min_sup"],
            verbose=False,
        )
        return finder.fit(features, errors)


def values(finder):
    scores = sorted((row["slice_score"] for row in finder.top_slices_statistics_), reverse=True)
    return {f"score {place + 1}": score for place, score in enumerate(scores[: finder.k])}


answer("sliceline", prepare=prepare, work=work, values=values)
