"""What did we find: specs, checks, policies, verdicts, comparisons."""

from isonomia.audit.check import CHECKS, Check, check, choose_checks
from isonomia.audit.comparison import Comparison, compare
from isonomia.audit.policy import Policy, Rule, load_policy, policy_names
from isonomia.audit.report import Report
from isonomia.audit.run import audit, run
from isonomia.audit.spec import DataSpec, ModelSpec, Spec, read_spec
from isonomia.audit.subject import Subject
from isonomia.audit.verdict import exit_code, judge

__all__ = [
    "CHECKS",
    "Check",
    "Comparison",
    "DataSpec",
    "ModelSpec",
    "Policy",
    "Report",
    "Rule",
    "Spec",
    "Subject",
    "audit",
    "check",
    "choose_checks",
    "compare",
    "exit_code",
    "judge",
    "load_policy",
    "policy_names",
    "read_spec",
    "run",
]
