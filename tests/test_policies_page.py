"""The page of policies, which is written from the declared rules and the shipped profiles.

Run this file to write ``docs/policies.md`` again.
"""

from __future__ import annotations

from pathlib import Path

from pydantic import BaseModel

from isonomia.policies import RULE_KINDS, Policy, load_policy, policy_names, policy_schema, policy_template

PAGE = Path(__file__).parents[1] / "docs" / "policies.md"

INTRODUCTION = """# Policies

A policy says what a model has to keep, and where that comes from. `isonomia policies` lists the shipped ones,
`isonomia policies show NAME` prints one, `isonomia policies template > policy.yaml` starts your own, `isonomia
policies schema` prints the JSON Schema for editors. Use one with `isonomia audit ... --policy NAME`, with the key
`policy` of a spec, or with `iso.audit(..., policy=...)`.

There are two kinds, which never mix. A *threshold* policy has limits: a criterion is *exceeded* only where its
whole interval lies beyond the limit, *met* only where every comparison is shown to keep it, that of no group left open
but those below the rule's own share of the people (`min_share`) and few people without a value (below 2%), who are
named; else there is *not enough evidence*. The intervals hold together over all groups, attributes and rules of the
policy. A *documentation* profile has no limits: the report *documents* a figure where it holds it with its
interval and the number of people, else it is *incomplete*. A documentation profile never says that anything
complies with a law.

A rule never passes because it could not be examined. Attributes that are not protected in the data are an error (exit
code 2) where the rule names no other; else the rule is applied to the others, and the verdict names the missing one:
*not enough evidence*. So it is where a check did not run, failed or does not apply, and where a metric does not exist
for these data: the verdict is never *meets* beside it, and `when_unsure: meets` does not change that.

Exit codes: 0 met or documented, 1 exceeded, 3 not enough evidence or incomplete (`when_unsure` turns it into 0 or
1, except where something could not be examined), 4 nothing applied. `--fail-on critical` and `--fail-on warning` end
with 1 on findings too. A test in JUnit XML is called after the rule's `id` and the attributes, so its history survives
whoever is worst off.

The text of a law changes. `status`, `in_force` and `as_of` are printed with the verdict, and an audit outside the
dates says so.
"""


def keys(model: type[BaseModel]) -> list[str]:
    """The keys of a shape: name, default, meaning."""
    lines = ["| key | default | meaning |", "|---|---|---|"]
    for name, field in model.model_fields.items():
        default = "required" if field.is_required() else f"`{field.get_default(call_default_factory=True)!r}`"
        lines.append(f"| `{field.alias or name}` | {default} | {' '.join((field.description or '').split())} |")
    return lines


def page() -> str:
    """The page as the declarations say."""
    lines = [INTRODUCTION, "## Shipped", "", "| policy | kind | status | what it is |", "|---|---|---|---|"]
    for name in policy_names():
        policy = load_policy(name)
        since = "" if policy.in_force is None or policy.in_force.start is None else f", from {policy.in_force.start}"
        lines.append(f"| `{name}` | {policy.kind} | {policy.status}{since} | {policy.title}. {policy.source}. |")
    lines += [
        "",
        "Old names still work and warn: `ecoa` is `us-lending`.",
        "",
        "## Keys of a policy",
        "",
        *keys(Policy),
    ]
    for kind, model in RULE_KINDS.items():
        about = " ".join((model.__doc__ or "").split("\n\n")[0].split())
        lines += ["", f"## Rules of kind `{kind}`", "", about, "", *keys(model)]
    lines += ["", "## A policy of your own", "", "```yaml", policy_template().rstrip(), "```", ""]
    return "\n".join(lines)


def test_the_page_is_what_the_declarations_say() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "Run: python tests/test_policies_page.py"


def test_every_key_is_explained_here_and_in_the_schema() -> None:
    for model in (Policy, *RULE_KINDS.values()):
        assert [name for name, field in model.model_fields.items() if not field.description] == []
    shapes = policy_schema()["$defs"]
    described = {name for model in RULE_KINDS.values() for name in shapes[model.__name__]["properties"]}
    assert all(f"| `{name}` |" in page() for name in described)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
