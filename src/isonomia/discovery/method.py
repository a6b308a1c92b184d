"""What a discovery method is: one description for searches of subgroups and of pairs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from isonomia.data import Task
from isonomia.errors import DataError
from isonomia.parameters import Parameter, read_options
from isonomia.registry import Registry

#: What a method cannot do without: true outcomes; decisions; probabilities; a model to ask; protected attributes;
#: "errors" are labels with predictions, or errors given as they are.
Need = Literal["labels", "predictions", "probabilities", "model", "protected", "errors"]
ALL_TASKS: tuple[Task, ...] = ("binary", "multiclass", "regression")


@dataclass(frozen=True, kw_only=True)
class Method:
    """A way to find whom a model treats differently.

    Attributes
    ----------
    id, purpose : str
        Its name and one line on what it does.
    finds : "subgroups" or "pairs"
        What it finds.
    run : callable
        Subgroups: `Problem` -> `Search`, with the values of its parameters in `Problem.options`. Pairs:
        ``run(space, **options)``, a generator of rows to test.
    needs : tuple
        What it cannot do without.
    tasks : tuple
        The tasks it is defined for.
    parameters : tuple of Parameter
        The method's own; others are refused.
    reference : str
        The publication.
    defaults : mapping
        Subgroups: where the method's `k`, `max_l` or `min_support` differ from the common ones.
    measure : callable, optional
        Subgroups: (`Problem`, `Subgroup`) -> the same subgroup measured on other rows; needed for `holdout`.
    describe : callable, optional
        Subgroups: (`Problem`, `Search`) -> the same search with tables and pictures about the subgroups listed, where
        they were found and measured on the same rows.
    nested : bool
        Subgroups: whether they are conjunctions whose average of ``stats["metric"]`` departs, so that a condition can
        be tested for what it adds.
    counts : bool
        Subgroups: whether counts and sums over conjunctions are all that it needs, so that an engine can count them.
    asks : bool
        Subgroups: whether it asks the model about people like those of the table, and so needs the table itself.
    complete : bool
        Pairs: whether it answers for everyone it looks at, so that it has no limit unless one is given.
    alters : bool
        Pairs: whether it alters people, who then have to agree with the dependencies of the data; not where people of
        the data are compared with one another.
    """

    id: str
    purpose: str
    run: Callable[..., Any]
    finds: Literal["subgroups", "pairs"] = "subgroups"
    needs: tuple[Need, ...] = ()
    tasks: tuple[Task, ...] = ALL_TASKS
    parameters: tuple[Parameter, ...] = ()
    reference: str = ""
    defaults: Mapping[str, Any] = field(default_factory=dict)
    measure: Callable[..., Any] | None = None
    describe: Callable[..., Any] | None = None
    nested: bool = False
    counts: bool = False
    asks: bool = False
    complete: bool = False
    alters: bool = True

    def read(self, options: Mapping[str, Any], *, path: str = "") -> dict[str, Any]:
        """The options given as plain values, or everything that is wrong with them; `path` is put before names."""
        return read_options(self.parameters, options, owner=f"The method '{self.id}'", path=path)

    def check_task(self, task: Task | None) -> None:
        """Refuse a task that the method is not defined for."""
        if task is not None and task not in self.tasks:
            raise DataError(
                f"The method '{self.id}' is for {' and '.join(self.tasks)} tasks; this is a {task} task. "
                "`isonomia methods` lists the others."
            )


#: All methods; another package adds its own through the entry point group ``isonomia.methods``.
METHODS: Registry[Method] = Registry(
    "method",
    package=("isonomia.discovery.subgroups.searches", "isonomia.discovery.pairs.searches"),
    order=lambda entry: (entry.finds != "subgroups", entry.id),
)
SUBGROUP_METHODS, PAIR_METHODS = METHODS.where(finds="subgroups"), METHODS.where(finds="pairs")
