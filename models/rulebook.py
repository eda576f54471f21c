"""The rule book: every rule of every model, by id."""

from __future__ import annotations

from importlib import import_module
from pkgutil import walk_packages

from rocketmq_conformance import models
from rocketmq_conformance.models.rule import Rule


def _collect() -> tuple[dict[str, Rule], frozenset[str]]:
    found: dict[str, Rule] = {}
    of_brokers = set()
    for module in walk_packages(models.__path__, models.__name__ + "."):
        if module.name == __name__:
            continue
        for rule in getattr(import_module(module.name), "RULES", ()):
            if rule.id in found:
                raise ValueError(f"two rules are called {rule.id}")
            found[rule.id] = rule
            if module.name.startswith(f"{models.__name__}.broker."):
                of_brokers.add(rule.id)
    return dict(sorted(found.items())), frozenset(of_brokers)


#: Every rule by id, in the order of ids, and the ids of those that brokers follow; all others are for clients.
RULES: dict[str, Rule]
OF_BROKERS: frozenset[str]
RULES, OF_BROKERS = _collect()


def digest() -> str:
    """64 bits (hex) of all rules: two runs with the same digest judged by the same rules."""
    from hashlib import blake2b  # loads OpenSSL, which a list of rules does not need

    return blake2b(repr(list(RULES.values())).encode(), digest_size=8).hexdigest()


def rule(rule_id: str) -> Rule:
    """The rule of an id, in any case; KeyError with a sentence that names the nearest ones."""
    by_upper = {known.upper(): known for known in RULES}
    known = by_upper.get(rule_id.upper())
    if known is None:
        from difflib import get_close_matches  # for a wrong id only: every command that names a rule would load it

        near = get_close_matches(rule_id.upper(), by_upper, n=3, cutoff=0.5)
        hint = f"; did you mean {', '.join(by_upper[name] for name in near)}?" if near else ""
        raise KeyError(f"no rule is called {rule_id!r}{hint} (`list rules` names them all)")
    return RULES[known]
