"""What if the world were different: situations, the scenarios that change them, and the measuring of many trials."""

from isonomia.robustness.stress.measures import Measures, applicable
from isonomia.robustness.stress.scenario import SCENARIOS, Planned, Scenario, plan, scenario
from isonomia.robustness.stress.situation import Situation

__all__ = ["Measures", "Planned", "SCENARIOS", "Scenario", "Situation", "applicable", "plan", "scenario"]
