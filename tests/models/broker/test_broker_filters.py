"""Pulls that carry an expression: tags by their hashes, other languages, and what clients are told beforehand."""

from __future__ import annotations

import pytest

from rocketmq_conformance.models.broker.broker_filters import BrokerFiltersModel, BrokerFiltersState, show
from rocketmq_conformance.models.java_text import string_hash
from rocketmq_conformance.models.outcome import Err
from rocketmq_conformance.models.profile import Profile

NEW = BrokerFiltersModel(Profile())
NO_FILTER, UNREADABLE = Err("SYSTEM_ERROR"), Err("SUBSCRIPTION_PARSE_FAILED")
MESSAGES = ("A", "Aa", "BB", "none", "zero", "least")
SENT = NEW.send(BrokerFiltersState(), 0, MESSAGES)[0]


def of(release: str) -> BrokerFiltersModel:
    return BrokerFiltersModel(Profile.of(broker=release))


def pulled(expression: str | None, kind: str | None = "TAG", model: BrokerFiltersModel = NEW) -> object:
    """The offsets that a pull of everything finds, or its error."""
    result = model.pull(SENT, 0, 0, 32, (expression, kind), False)[1]
    return result[4] if isinstance(result, tuple) else result


def test_the_tags_of_the_messages_have_the_hashes_that_they_are_there_for() -> None:
    assert string_hash("Aa") == string_hash("BB")
    assert string_hash("f5a5a608") == 0
    assert string_hash("polygenelubricants") == -(2**31)


@pytest.mark.parametrize(
    ("expression", "found"),
    [
        ("*", (0, 1, 2, 3, 4, 5)),
        (None, (0, 1, 2, 3, 4, 5)),
        ("", (0, 1, 2, 3, 4, 5)),
        ("A", (0,)),
        (" A ", (0,)),
        ("Aa", (1, 2)),
        ("A || Aa", (0, 1, 2)),
        ("f5a5a608", (3, 4)),
        ("polygenelubricants", (5,)),
        (" * ", ()),
        ("* || B", ()),
        (" ", ()),
        ("\u3000A", ()),
        ("||", UNREADABLE),
    ],
)
def test_messages_pass_by_the_hashes_of_tags(expression: str | None, found: object) -> None:
    assert pulled(expression) == found
    assert pulled(expression, None) == found


def test_a_pull_shows_min_max_and_where_to_go_on() -> None:
    assert NEW.pull(SENT, 0, 0, 1, ("Aa", "TAG"), False)[1] == ("SUCCESS", 2, 0, 6, (1,))
    assert NEW.pull(SENT, 0, 3, 32, ("Aa", "TAG"), False)[1] == ("PULL_RETRY_IMMEDIATELY", 6, 0, 6, ())
    assert NEW.pull(SENT, 0, 6, 32, ("Aa", "TAG"), False)[1] == ("PULL_NOT_FOUND", 6, 0, 6, ())


def test_an_empty_language_is_no_language_of_its_own() -> None:
    assert pulled("A", "") == ()
    assert pulled("*", "") == (0, 1, 2, 3, 4, 5)
    assert pulled("", "") == UNREADABLE
    assert pulled("A", "", of("4.2.0")) == NO_FILTER
    assert pulled("A", "", of("4.0.0")) == (0,)
    assert "BQ-PULL-BLANK" in NEW.pull(SENT, 0, 0, 32, ("A", ""), False)[2].rules
    assert "BQ-PULL-BLANK" not in of("4.0.0").pull(SENT, 0, 0, 32, ("A", ""), False)[2].rules


def test_other_languages_are_refused() -> None:
    assert pulled("a > 1", "SQL92") == NO_FILTER
    assert pulled("", "SQL92") == UNREADABLE
    assert pulled(None, "SQL92") == UNREADABLE
    assert pulled("A", "SQL92", of("4.0.0")) == (0,)


def test_a_negative_hash_passes_every_filter_in_one_release() -> None:
    assert pulled("A", model=of("4.1.0")) == (0, 5)
    assert "BQ-PULL-NEGATIVE" in of("4.1.0").pull(SENT, 0, 0, 32, ("A", "TAG"), False)[2].rules
    for release in ("4.0.0", "4.2.0"):
        assert pulled("A", model=of(release)) == (0,)


def test_the_flag_of_class_filters_changes_nothing() -> None:
    _, result, why = NEW.pull(SENT, 0, 0, 32, ("A", "TAG"), True)
    assert (result, "BQ-PULL-CLASS" in why.rules) == (("SUCCESS", 6, 0, 6, (0,)), True)


def test_a_client_that_asks_is_told_the_language_only() -> None:
    for subscription in (("||", "TAG"), ("A", None), ("", "")):
        assert NEW.check(SENT, subscription)[1] is None
    assert NEW.check(SENT, ("a > 1", "SQL92"))[1] == NO_FILTER
    assert of("4.2.0").check(SENT, ("A", ""))[1] == NO_FILTER


SQL = BrokerFiltersModel(Profile().configured({"enablePropertyFilter": "true"}))
WITH_PROPERTIES = SQL.send(BrokerFiltersState(), 0, ("one", "ten", "fraction", "text", "second"))[0]


@pytest.mark.parametrize(
    ("expression", "found", "rules"),
    [
        ("a = 1.0", (0,), {"BQ-SQL-PASS", "BQ-SQL-TYPE", "BQ-SQL-UNKNOWN"}),
        ("a IS NULL", (4,), {"BQ-SQL-PASS"}),
        ("c = 1", (), {"BQ-SQL-PASS", "BQ-SQL-UNKNOWN"}),
        ("a =", (0, 1, 2, 3, 4), {"BQ-SQL-PASS", "BQ-SQL-COMPILE"}),
    ],
)
def test_messages_pass_by_their_properties(expression: str, found: object, rules: set[str]) -> None:
    _, result, why = SQL.pull_sql(WITH_PROPERTIES, 0, 0, False, expression, "", "")
    assert isinstance(result, tuple)
    assert (result[4], {rule for rule in why.rules if "SQL" in rule}) == (found, rules)


def test_conditions_are_joined() -> None:
    negated = SQL.pull_sql(WITH_PROPERTIES, 0, 0, True, "a = 1.0", "OR", "b = 'x'")[1]
    assert negated == ("SUCCESS", 5, 0, 5, (2,))


def test_an_unknown_language_finds_everything() -> None:
    _, result, why = SQL.pull(WITH_PROPERTIES, 0, 0, 32, ("a > 1", "sql92"), False)
    assert (result, "BQ-SQL-COMPILE" in why.rules) == (("SUCCESS", 5, 0, 5, (0, 1, 2, 3, 4)), True)
    assert SQL.pull(WITH_PROPERTIES, 0, 0, 32, ("*", "TAG"), False)[2].rules == ("BQ-PULL-STATUS", "BQ-PULL-7")
    assert "BQ-SQL-COMPILE" not in SQL.pull(WITH_PROPERTIES, 0, 0, 32, ("*", ""), False)[2].rules


def test_a_client_that_asks_is_told_whether_its_expression_can_be_compiled() -> None:
    assert SQL.check_sql(WITH_PROPERTIES, False, "a = 1", "", "")[1] is None
    for subscription in (("a =", "SQL92"), ("a = 1", "sql92"), (None, "SQL92"), ("", "SQL92")):
        assert SQL.check(WITH_PROPERTIES, subscription)[1] == UNREADABLE


def test_a_state_is_shown_by_its_messages() -> None:
    assert show(SENT) == f"messages {{0: {list(MESSAGES)}}}"
