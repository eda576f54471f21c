"""Expressions in SQL92 over the properties of messages, as a broker compiles and evaluates them (BQ-SQL-*).

The language is the part that suites use: comparisons, AND, OR and NOT, IS NULL, IN, BETWEEN, literals, signs and
parentheses. Properties are texts; what an expression is worth is true, false or unknown. It *fails* where Java throws.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cache
from types import MappingProxyType
from typing import NamedTuple

from rocketmq_conformance.models.java_text import parse_boolean, parse_number
from rocketmq_conformance.models.rule import Rule

RULES = (
    Rule(
        "BQ-SQL-PASS",
        "With enablePropertyFilter a message passes an expression in SQL92 when that is true for its properties; its "
        "tag is the property TAGS. NOT binds closer than comparisons, and what follows a whole expression is not read.",
        "ExpressionMessageFilter#isMatchedByCommitLog, SelectorParser#JmsSelector @ 4.1.0, 4.9.7, 5.3.3",
        releases="4.1.0+",
        needs="enablePropertyFilter=true",
    ),
    Rule(
        "BQ-SQL-COMPILE",
        "A pull by an expression that cannot be compiled, or in a language that the broker does not have, finds every "
        "message. CHECK_CLIENT_CONFIG refuses such a subscription with SUBSCRIPTION_PARSE_FAILED.",
        "PullMessageProcessor#processRequest, ConsumerFilterManager#build, ClientManageProcessor#checkClientConfig @ "
        "4.1.0, 4.9.7, 5.3.3",
        releases="4.1.0+",
        needs="enablePropertyFilter=true",
    ),
    Rule(
        "BQ-SQL-UNKNOWN",
        "A comparison with a property that a message lacks, or that is empty, is unknown, and so are NOT, IN and "
        "BETWEEN of it; AND and OR go by three values, and what is unknown does not pass. But = is false where only "
        "its right side is lacking, and true where both are.",
        "ComparisonExpression#doCreateEqual, LogicExpression @ 4.1.0, 4.9.7, 5.3.3",
        releases="4.1.0+",
        needs="enablePropertyFilter=true",
    ),
    Rule(
        "BQ-SQL-TYPE",
        "A property is converted to the type of the number that it is compared with, two properties to floating point "
        "by <, <=, > and >=. If that fails, or TRUE or FALSE is compared with a property on its right, the message "
        "does not pass, whatever the rest of the expression is.",
        "ComparisonExpression#__compare, #evaluate @ 4.1.0, 4.9.7, 5.3.3",
        releases="4.1.0+",
        needs="enablePropertyFilter=true",
    ),
)

Properties = Mapping[str, str]
#: Those of a message that has none.
NO_PROPERTIES: Properties = MappingProxyType({})
#: What an expression is worth: a Java Boolean, Integer or Long, Double or String; None is null.
Value = bool | int | float | str | None


class UncompilableError(Exception):
    """The expression cannot be compiled."""


class FailedError(Exception):
    """Java throws an exception where it evaluates the expression."""


PROPERTY, LITERAL, FLAG, CONDITION, NEGATED = "property", "literal", "TRUE, FALSE or NULL", "condition", "negated"


class _Node(NamedTuple):
    """A part of an expression: what it is, how it is evaluated, and its value if that is constant."""

    kind: str
    evaluate: Callable[[Properties], Value]
    value: Value = None


_TOKEN = re.compile(
    r"""[ \t\n\r\f]*(?:
    (?P<float>[0-9]+\.[0-9]*(?:[eE][+-]?[0-9]+)?|\.[0-9]+(?:[eE][+-]?[0-9]+)?|[0-9]+[eE][+-]?[0-9]+)
    |(?P<decimal>0|[1-9][0-9]*[lL]?)
    |(?P<text>'(?:''|[^'])*')
    |(?P<name>[A-Za-z_$][A-Za-z0-9_$]*)
    |(?P<sign><>|>=|<=|[=<>(),+-])
    |(?P<end>\Z))""",
    re.VERBOSE,
)
_WORDS = frozenset({"NOT", "AND", "OR", "BETWEEN", "IN", "TRUE", "FALSE", "NULL", "IS"})
_FLAGS: Mapping[str, bool | None] = {"TRUE": True, "FALSE": False, "NULL": None}
_DOUBLE = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?[fFdD]?")
#: What Java's Double#valueOf trims.
_TRIMMED = "".join(map(chr, range(33)))
_ORDER: Mapping[str, Callable[[int], bool]] = {
    "<": lambda order: order < 0,
    "<=": lambda order: order <= 0,
    ">": lambda order: order > 0,
    ">=": lambda order: order >= 0,
}


@cache
def compiled(text: str) -> Callable[[Properties], Value] | None:
    """How an expression is evaluated; None when it cannot be compiled."""
    try:
        return _condition(_Parser(text).any_of()).evaluate
    except UncompilableError:
        return None


def verdict(text: str, properties: Properties) -> bool | None:
    """Is an expression that can be compiled true for these properties? None for unknown; FailedError."""
    evaluate = compiled(text)
    assert evaluate is not None
    found = evaluate(properties)
    return found if isinstance(found, bool) else None


def passes(text: str, properties: Properties) -> bool:
    """BQ-SQL-*: does a message with these properties pass?"""
    if compiled(text) is None:
        return True
    try:
        return verdict(text, properties) is True
    except FailedError:
        return False


class _Parser:
    """Reads an expression once, from the left to the right."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0

    def any_of(self) -> _Node:
        """Conditions with OR between them."""
        left = self.all_of()
        while self.take("OR"):
            left = _either(_condition(left), _condition(self.all_of()))
        return left

    def all_of(self) -> _Node:
        """Conditions with AND between them."""
        left = self.equality()
        while self.take("AND"):
            left = _both(_condition(left), _condition(self.equality()))
        return left

    def equality(self) -> _Node:
        left = self.comparison()
        while True:
            if self.take("="):
                left = _equal(left, self.comparison())
            elif self.take("<>"):
                left = _negation(_equal(left, self.comparison()))
            elif self.take("IS"):
                negated = self.take("NOT")
                self.need("NULL")
                left = _is_null(left)
                left = _negation(left) if negated else left
            else:
                return left

    def comparison(self) -> _Node:
        left = self.signed()
        while True:
            sign = next((sign for sign in _ORDER if self.take(sign)), None)
            negated = sign is None and self.take("NOT")
            if sign is not None:
                left = _ordered(left, sign, self.signed())
            elif self.take("BETWEEN"):
                low = self.signed()
                self.need("AND")
                left = _between(left, low, self.signed(), negated)
            elif self.take("IN"):
                left = _one_of(left, self.texts(), negated)
            elif negated:
                raise UncompilableError
            else:
                return left

    def signed(self) -> _Node:
        if self.take("+"):
            return self.signed()
        if self.take("-"):
            return _minus(self.signed())
        if self.take("NOT"):
            return _negation(_condition(self.signed()))
        return self.operand()

    def operand(self) -> _Node:
        if self.take("("):
            inner = self.any_of()
            self.need(")")
            return inner
        kind, word = self.next()
        self.go_on()
        if kind == "name" and word.upper() in _FLAGS:
            return _constant(FLAG, _FLAGS[word.upper()])
        if kind == "name" and word.upper() not in _WORDS:
            return _Node(PROPERTY, lambda properties: properties.get(word) or None)
        if kind == "text":
            return _constant(LITERAL, _unquoted(word))
        if kind == "float" and 0 < float(word) < float("inf"):
            return _constant(LITERAL, float(word))
        number = parse_number(word.rstrip("lL"), 64) if kind == "decimal" else None
        if number is None:
            raise UncompilableError
        return _constant(LITERAL, number)

    def texts(self) -> tuple[str, ...]:
        """Texts in parentheses."""
        self.need("(")
        found = [self.text_literal()]
        while self.take(","):
            found.append(self.text_literal())
        self.need(")")
        return tuple(found)

    def text_literal(self) -> str:
        kind, word = self.next()
        if kind != "text":
            raise UncompilableError
        self.go_on()
        return _unquoted(word)

    def next(self) -> tuple[str, str]:
        """Kind and text of the next token, which stays the next one."""
        found = self.token()
        kind = str(found.lastgroup)
        return kind, found[kind]

    def token(self) -> re.Match[str]:
        found = _TOKEN.match(self.text, self.at)
        if found is None:
            raise UncompilableError
        return found

    def go_on(self) -> None:
        self.at = self.token().end()

    def take(self, word: str) -> bool:
        """Go on if the next token is this word, or sign."""
        kind, found = self.next()
        if kind == "text" or (found != word and (found.upper() != word or word not in _WORDS)):
            return False
        self.go_on()
        return True

    def need(self, word: str) -> None:
        if not self.take(word):
            raise UncompilableError


def _unquoted(word: str) -> str:
    return word[1:-1].replace("''", "'")


# --- parts of expressions -----------------------------------------------------------------------------------------


def _constant(kind: str, value: Value) -> _Node:
    return _Node(kind, lambda properties: value, value)


def _condition(node: _Node) -> _Node:
    """The same as a condition: a property alone is false, unknown when it is lacking."""
    if node.kind in {CONDITION, FLAG}:
        return node
    if node.kind != PROPERTY:
        raise UncompilableError
    return _Node(CONDITION, lambda properties: None if node.evaluate(properties) is None else False)


def _either(left: _Node, right: _Node) -> _Node:
    return _negation(_both(_negation(left), _negation(right)))


def _both(left: _Node, right: _Node) -> _Node:
    def evaluate(properties: Properties) -> Value:
        first = left.evaluate(properties)
        if first is False:
            return False
        second = right.evaluate(properties)
        if second is False:
            return False
        return None if first is None or second is None else True

    return _Node(CONDITION, evaluate)


def _negation(node: _Node) -> _Node:
    def evaluate(properties: Properties) -> Value:
        found = node.evaluate(properties)
        return None if found is None else not found

    return _Node(CONDITION, evaluate)


def _minus(node: _Node) -> _Node:
    def evaluate(properties: Properties) -> Value:
        found = node.evaluate(properties)
        return -found if isinstance(found, int | float) and not isinstance(found, bool) else None

    return _Node(NEGATED, evaluate)


def _is_null(node: _Node) -> _Node:
    return _Node(CONDITION, lambda properties: node.evaluate(properties) is None)


def _equal(left: _Node, right: _Node) -> _Node:
    for node in (left, right):
        if node.kind == FLAG and node.value is None:
            raise UncompilableError
    if left.kind == FLAG and right.kind == LITERAL:
        raise UncompilableError

    def evaluate(properties: Properties) -> Value:
        first, second = left.evaluate(properties), right.evaluate(properties)
        if first is None or second is None:
            return True if first is second else None if first is None else False
        return _compared(first, second) == 0

    return _Node(CONDITION, evaluate)


def _ordered(left: _Node, sign: str, right: _Node) -> _Node:
    for node in (left, right):
        if node.kind in {FLAG, CONDITION} or (node.kind == LITERAL and isinstance(node.value, str)):
            raise UncompilableError

    def evaluate(properties: Properties) -> Value:
        first = left.evaluate(properties)
        second = None if first is None else right.evaluate(properties)
        if first is None or second is None:
            return None
        if isinstance(first, str) and isinstance(second, str):
            first, second = _double(first), _double(second)
        return _ORDER[sign](_compared(first, second))

    return _Node(CONDITION, evaluate)


def _between(node: _Node, low: _Node, high: _Node, negated: bool) -> _Node:
    if negated:
        return _either(_ordered(node, "<", low), _ordered(node, ">", high))
    both = _both(_ordered(node, ">=", low), _ordered(node, "<=", high))
    if low.kind == LITERAL and high.kind == LITERAL and _compared(high.value, low.value) < 0:
        raise UncompilableError
    return both


def _one_of(node: _Node, texts: tuple[str, ...], negated: bool) -> _Node:
    if node.kind != PROPERTY:
        raise UncompilableError

    def evaluate(properties: Properties) -> Value:
        found = node.evaluate(properties)
        return None if found is None else (found in texts) != negated

    return _Node(CONDITION, evaluate)


# --- values -------------------------------------------------------------------------------------------------------


def _compared(left: Value, right: Value) -> int:
    """Below 0, 0 or above 0, once one of them was converted to the type of the other; FailedError."""
    if isinstance(left, str) and isinstance(right, str):
        return (left > right) - (left < right)
    if isinstance(left, bool) and isinstance(right, str):
        raise FailedError
    first = _converted(left, right) if isinstance(left, str) else left
    second = _converted(right, left) if isinstance(right, str) else right
    if isinstance(first, bool) != isinstance(second, bool):
        return -1
    assert isinstance(first, int | float)
    assert isinstance(second, int | float)
    return (first > second) - (first < second)


def _converted(text: str, example: Value) -> int | float:
    """A text as a value of the type that another one has."""
    if isinstance(example, bool):
        return parse_boolean(text)
    if isinstance(example, float):
        return _double(text)
    assert isinstance(example, int)
    number = parse_number(text, 32 if -(2**31) <= example < 2**31 else 64)
    if number is None:
        raise FailedError
    return number


def _double(text: str) -> float:
    trimmed = text.strip(_TRIMMED)
    if not _DOUBLE.fullmatch(trimmed):
        raise FailedError
    return float(trimmed.rstrip("fFdD"))
