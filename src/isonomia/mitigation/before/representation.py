"""Fair representation: people described by how near they are to learned prototypes that do not tell groups apart."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist
from scipy.special import softmax
from sklearn.utils import ClassifierTags
from sklearn.utils.validation import check_is_fitted

from isonomia.counting import Codes
from isonomia.data import to_frame
from isonomia.errors import DataError, require
from isonomia.languages import msg
from isonomia.mitigation._training import rows_by_weight
from isonomia.mitigation.before.changing import FeatureMitigator
from isonomia.mitigation.registry import MITIGATIONS, Mitigation
from isonomia.parameters import SEED, Integer, Number
from isonomia.typing import Floats


@dataclass(eq=False, repr=False, kw_only=True)
class Represent(FeatureMitigator):
    """Memberships in prototypes that keep the features and the outcome and hide the group (Fairlearn's learner).

    With prototypes v_k, memberships M = softmax(-d(x, v_k)) and outcome weights w_k, the sum of three terms is
    minimised: reconstruction mean |x - M v|^2, log-loss of M w, and the difference of mean memberships between groups.

    Parameters
    ----------
    sensitive : str or list of str, optional
        The columns of X that hold the protected attribute; several make intersections, an empty list makes everyone one
        group. None where the attribute comes as `sensitive_features`.
    prototypes : int
        How many prototypes are learned; the columns of the result.
    reconstruction, outcome, fairness : float
        The weight of each term.
    max_iter : int
        Steps of the optimiser, at most.
    seed : int
        The start of the random first prototypes.

    Attributes
    ----------
    prototypes_ : array (prototypes, features)
        The prototypes, in the units of X.
    scales_ : array (features,)
        The weight of each feature in the distance.

    Notes
    -----
    Slow (gradients by differences) and sensitive to the seed; standardise the features first, and use few of them. The
    attribute is not read at decision time. Needs the package fairlearn at fit, whose learner takes no sample weights:
    each row is repeated or left out as its weight asks. Outcomes, where given, are of two classes.

    References
    ----------
    Zemel, Wu, Swersky, Pitassi and Dwork (2013), Learning fair representations.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> sex = np.repeat([0, 1], 20)
    >>> X = rng.normal(sex[:, None], 1, (40, 2))
    >>> Represent(prototypes=3, max_iter=5).fit_transform(X, X[:, 0] > 0.5, sensitive_features=sex).shape
    (40, 3)
    """

    __kinds__: ClassVar = {
        **FeatureMitigator.__kinds__,
        "prototypes": Integer(2),
        "reconstruction": Number(at_least=0),
        "outcome": Number(at_least=0),
        "fairness": Number(at_least=0),
        "max_iter": Integer(1),
        "seed": SEED,
    }

    prototypes: int = 5
    reconstruction: float = 0.01
    outcome: float = 1.0
    fairness: float = 1.0
    max_iter: int = 200
    seed: int = 0

    def _attribute_later(self, X: Any, sensitive_features: Any) -> None:
        """Nothing: people are described without their group."""

    def _learn(
        self, numbers: Floats, attribute: Codes, y: NDArray[Any] | None, weights: Floats | None, options: dict[str, Any]
    ) -> None:
        if y is not None and (classes := len(np.unique(y))) != 2:
            raise DataError(f"Represent is for outcomes of two classes; y has {classes} class{'es' * (classes > 1)}.")
        if self.untouched_:
            named = ", ".join(map(repr, self.untouched_[:10]))
            raise DataError(f"Represent takes numbers, but {named} hold texts. Encode them first.")
        fairlearn = require("fairlearn.preprocessing", extra="mitigation", purpose="Learning a fair representation")
        learner = fairlearn.PrototypeRepresentationLearner(
            n_prototypes=options["prototypes"],
            reconstruct_weight=options["reconstruction"],
            target_weight=options["outcome"],
            fairness_weight=options["fairness"],
            random_state=options["seed"],
            max_iter=options["max_iter"],
        )
        rows = np.arange(len(numbers)) if weights is None else rows_by_weight(weights, options["seed"])
        groups = attribute.codes.astype(int)[rows] if attribute.size > 1 else None
        learner.fit(numbers[rows], None if y is None else y[rows], sensitive_features=groups)
        self.prototypes_, self.scales_, self.n_iter_ = learner.prototypes_, learner.alpha_, int(learner.n_iter_)

    def _change(self, numbers: Floats, attribute: None) -> Floats:
        distances = cdist(numbers, self.prototypes_, metric="euclidean", w=self.scales_)
        return np.asarray(softmax(-distances, axis=1))

    def _as_table(self, table: nw.DataFrame[Any], changed: Floats) -> Any:
        names = self.get_feature_names_out()
        return to_frame(dict(zip(names, changed.T, strict=True)), table.implementation.name.lower())

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """The names of the columns of the result."""
        check_is_fitted(self)
        return np.array([f"prototype{index}" for index in range(len(self.prototypes_))], dtype=object)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags = ClassifierTags(multi_class=False)
        return tags


MITIGATIONS.add(
    Mitigation(
        id="representation",
        title=msg("Fair representation"),
        about=msg("describes people by learned prototypes that do not distinguish the groups"),
        stage="before",
        estimator=Represent,
        needs=("fairlearn",),
        tasks=("binary",),
        slow=True,
        reference="Zemel and others (2013)",
    )
)
