"""What did we find: specs, checks, verdicts, comparisons.

The package and its main function share a name: ``isonomia.audit(data, model)`` runs an audit, and
``isonomia.audit.CHECKS`` and the rest are found in the package as usual. So the module itself can be called.
"""

import inspect
import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

from isonomia.audit.bias_audit_summary import bias_audit_summary
from isonomia.audit.check_registry import CHECKS, Check, check, choose_checks, read_check_options
from isonomia.audit.comparison import CompareOn, Comparison, compare
from isonomia.audit.comparison_forms import comparison_markdown
from isonomia.audit.exit_codes import FailOn, exit_code
from isonomia.audit.figures import Measure, ReportFigure, figures_of
from isonomia.audit.report import Report
from isonomia.audit.runner import audit, out_folder, run
from isonomia.audit.spec import DataSpec, EndpointSpec, ModelSpec, Spec, read_spec
from isonomia.audit.spec_changes import audit_changes, changed_checks, read_changes
from isonomia.audit.spec_schema import spec_schema
from isonomia.audit.verdicts.verdict import judge
from isonomia.audit.verification import Verification, verify
from isonomia.parameters import face

__all__ = [
    "CHECKS",
    "Check",
    "CompareOn",
    "Comparison",
    "DataSpec",
    "EndpointSpec",
    "FailOn",
    "Measure",
    "ModelSpec",
    "Report",
    "ReportFigure",
    "Spec",
    "Verification",
    "audit",
    "audit_changes",
    "bias_audit_summary",
    "changed_checks",
    "check",
    "choose_checks",
    "compare",
    "comparison_markdown",
    "exit_code",
    "figures_of",
    "judge",
    "out_folder",
    "read_changes",
    "read_check_options",
    "read_spec",
    "run",
    "spec_schema",
    "verify",
]

if not TYPE_CHECKING:
    __dir__, __getattr__ = face(__name__, __all__)


class _Room(ModuleType):
    """A module that runs an audit when it is called."""

    def __call__(self, *args: Any, **options: Any) -> Report:
        return audit(*args, **options)


_Room.__call__.__doc__ = audit.__doc__
_room = sys.modules[__name__]
_room.__class__ = _Room
_room.__doc__ = inspect.cleandoc(audit.__doc__ or "") + "\n\n" + (__doc__ or "")  # help(iso.audit) is about the call
_room.__signature__ = inspect.signature(audit)  # type: ignore[attr-defined]  # what editors and notebooks show
