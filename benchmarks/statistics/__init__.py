"""Do the intervals cover, the tests keep their size, the verdicts wait for evidence? Simulations with known truth.

``python -m benchmarks.statistics [TOPIC ...]`` runs the settings and writes ``docs/statistics.md``. A file of this
folder holds the settings of one topic; ``tests/statistics`` runs those that are small enough with fewer repetitions.
"""
