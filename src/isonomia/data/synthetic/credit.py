"""The demo's credit data: applicants for a loan, and a lender whose decisions contain three known biases."""

from __future__ import annotations

from isonomia.data.synthetic.copula import Copula
from isonomia.data.synthetic.distributions import Categories, LogNormal, Normal, Uniform
from isonomia.data.synthetic.generator import Synthetic, generate
from isonomia.data.synthetic.outcome import Outcome
from isonomia.data.synthetic.schema import Schema
from isonomia.parameters import Integer, validated

#: Thirteen columns as a lender's table might have; shares and sizes are made up.
SCHEMA = Schema(
    columns={
        "sex": Categories({"female": 0.48, "male": 0.52}),
        "ethnicity": Categories({"Black": 0.16, "Hispanic": 0.18, "Other": 0.05, "Asian": 0.09, "White": 0.52}),
        "age": Normal(mean=39, sd=13, low=18, high=80, whole=True),
        "education": Categories({"primary": 0.12, "secondary": 0.45, "bachelor": 0.30, "postgraduate": 0.13}),
        "marital_status": Categories({"single": 0.38, "divorced": 0.14, "married": 0.48}),
        "housing": Categories({"rent": 0.42, "mortgage": 0.36, "own": 0.22}),
        "employment_years": LogNormal(median=5, sigma=0.9, high=45, decimals=1),
        "income": LogNormal(median=2900, sigma=0.5, low=600, high=40_000, decimals=0),
        "savings": LogNormal(median=2500, sigma=1.2, high=500_000, decimals=0, missing=0.04),
        "debt_ratio": Normal(mean=0.34, sd=0.14, low=0.0, high=1.0, decimals=3),
        "late_payments": Categories({0: 0.62, 1: 0.19, 2: 0.10, 3: 0.06, 4: 0.03}),
        "loan_amount": LogNormal(median=8000, sigma=0.7, low=500, high=120_000, decimals=0),
        "loan_months": Uniform(low=6, high=72, whole=True),
    },
    correlation=[
        ("sex", "income", 0.15),
        ("sex", "employment_years", 0.08),
        ("ethnicity", "income", 0.14),
        ("ethnicity", "education", 0.10),
        ("ethnicity", "housing", 0.12),
        ("age", "employment_years", 0.60),
        ("age", "marital_status", 0.35),
        ("age", "housing", 0.35),
        ("age", "income", 0.25),
        ("age", "savings", 0.25),
        ("education", "income", 0.40),
        ("education", "savings", 0.20),
        ("employment_years", "income", 0.30),
        ("employment_years", "housing", 0.25),
        ("income", "savings", 0.40),
        ("income", "housing", 0.25),
        ("income", "debt_ratio", -0.25),
        ("income", "late_payments", -0.20),
        ("income", "loan_amount", 0.40),
        ("debt_ratio", "late_payments", 0.30),
        ("savings", "late_payments", -0.20),
        ("loan_amount", "loan_months", 0.45),
        ("loan_amount", "debt_ratio", 0.15),
    ],
    protected={"sex": None, "ethnicity": None, "age": [25, 60]},
    privileged={"sex": "male", "ethnicity": "White", "age": "[25, 60)"},
)

#: What a fair lender would look at, in log-odds for a standard deviation.
WEIGHTS = {
    "income": 0.8,
    "debt_ratio": -0.8,
    "late_payments": -0.9,
    "employment_years": 0.35,
    "savings": 0.3,
    "loan_amount": -0.45,
    "loan_months": -0.2,
    "education": {"primary": -0.25, "secondary": -0.05, "bachelor": 0.1, "postgraduate": 0.25},
    "housing": {"rent": -0.15, "mortgage": 0.05, "own": 0.2},
}

#: What this lender does on top of it.
PAIRS = (
    {
        "a": {"sex": "female", "ethnicity": "Black"},
        "b": {"sex": "male", "ethnicity": "White"},
        "bias": -1.6,
    },
    {"a": {"age": (None, 25)}, "b": {"age": (25, 60)}, "bias": -1.1},
    {
        "a": {"sex": "female", "marital_status": "single", "housing": "rent"},
        "b": {"sex": "male", "marital_status": "single", "housing": "rent"},
        "bias": -0.9,
    },
)


@validated(n=Integer(100))
def credit(n: int = 20_000, *, seed: int = 0, bias: float = 1.0, aleatoric: float = 0.2) -> Synthetic:
    """Applications for a loan, granted or refused by a lender with known biases.

    Against Black women (1.6 in log-odds), against people under 25 (1.1), and against single women who rent (0.9);
    `bias` scales all three, and 0 makes the lender fair. Every row is drawn from the same population.

    Parameters
    ----------
    n : int
        Applications, at least 100.
    seed : int
    bias : float
        Times the biases above.
    aleatoric : float
        The standard deviation of noise in the score.

    Examples
    --------
    >>> made = credit(500)
    >>> made.dataset
    Dataset(500 rows, binary target 'decision' (positive: 'granted'), protected: sex, ethnicity, age)
    >>> [str(subgroup) for subgroup in made.truth.biased]
    ['sex = female and ethnicity = Black', 'age < 25', 'sex = female and marital_status = single and housing = rent']
    """
    return generate(
        Copula.from_schema(SCHEMA, seed=seed),
        pairs=[{**pair, "bias": float(str(pair["bias"])) * bias} for pair in PAIRS],
        n_samples=0,
        n_background=n,
        aleatoric=aleatoric,
        epistemic=0.1,
        outcome=Outcome(target="decision", labels=("refused", "granted"), weights=WEIGHTS, rate=0.6),
        protected=SCHEMA.protected,
        privileged=SCHEMA.privileged,
        name="credit",
        seed=seed,
    )
