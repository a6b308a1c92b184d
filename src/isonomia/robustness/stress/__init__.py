"""What if the world were different: situations, the scenarios that change them, and the measuring of many trials."""

from isonomia.robustness.stress import feature_scenarios, label_and_score_scenarios, row_scenarios  # noqa: F401  they fill the registry
from isonomia.robustness.stress.measures import Measures, applicable
from isonomia.robustness.stress.scenario import SCENARIOS, Planned, Scenario, plan, scenario
from isonomia.robustness.stress.situation import Situation

__all__ = ["Measures", "Planned", "SCENARIOS", "Scenario", "Situation", "applicable", "plan", "scenario"]
