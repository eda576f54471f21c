"""Call graphs of Java sources: which methods a request passes on its way to its answer.

The receiver of a call has the declared type of its field, parameter, local variable or method; a call of a method that
subclasses override may be one of any of them. What no declaration tells (a lambda's parameter, a raw collection) is
left out, so that a graph has less than what may be called, and hardly anything that cannot be.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from rocketmq_conformance.conformance.provenance.java_source import (
    COMMENTS,
    CONSTRUCTORS,
    FIELDS,
    METHODS,
    TYPES,
    body_of,
    parser,
    text_of,
)
from rocketmq_conformance.conformance.provenance.named import Named

if TYPE_CHECKING:
    from tree_sitter import Node

#: The methods of collections and futures that give an element, and whether it is of the first or the last type of
#: their angle brackets.
_ELEMENTS = {"getKey": 0} | dict.fromkeys(
    ("get", "getOrDefault", "getValue", "remove", "next", "poll", "peek", "take", "join", "computeIfAbsent"), -1
)
#: The methods that give the same elements in another collection.
_SAME = frozenset({"entrySet", "values", "keySet", "iterator", "stream", "filter"})
#: Where requests are given to processors, the processor of all others, and what they call.
_REGISTERED = Named("BrokerController", "registerProcessor")
_OTHERS, BEGIN = "AdminBrokerProcessor", "processRequest"
_CODE = "RequestCode."


@dataclass(eq=False, slots=True)
class _Class:
    """A class or interface: what it declares, by name."""

    name: str
    outer: _Class | None
    bases: tuple[str, ...]
    fields: dict[str, Node | None] = field(default_factory=dict)
    methods: dict[str, list[Node]] = field(default_factory=dict)
    inner: dict[str, _Class] = field(default_factory=dict)


class CallGraph:
    """The calls in the source files of a release, by their paths."""

    def __init__(self, files: Mapping[str, bytes]) -> None:
        """CannotRunError with a sentence when the package that reads Java is not installed."""
        self._classes: dict[str, list[_Class]] = {}
        self._called: dict[Named, tuple[Named, ...]] = {}
        #: What was found out about classes before: those above one, what a name means in one, what a call may reach.
        self._lines: dict[_Class, list[_Class]] = {}
        self._meant: dict[tuple[str, _Class | None], list[_Class]] = {}
        self._reached: dict[tuple[_Class, str], list[Named]] = {}
        #: The types of the expressions of the method that is looked at, by their nodes.
        self._types: dict[int, tuple[list[_Class], Node | None]] = {}
        for path in sorted(files):
            for node in parser().parse(files[path]).root_node.children:
                if node.type in TYPES:
                    self._add(node, None)
        self._below: dict[str, list[_Class]] = {}
        every = [one for some in self._classes.values() for one in some]
        for one in every:
            for above in self._above(one):
                self._below.setdefault(above.name, []).append(one)

    def entries(self, request: str) -> tuple[Named, ...]:
        """The methods in which a broker begins with a request, such as "PULL_MESSAGE"; none when it has none."""
        processor = self._processor(request)
        begin = processor.methods.get(BEGIN, []) if processor else []
        if processor is None or not begin:
            return ()
        own = Named(processor.name, BEGIN)
        switches = [node for node in _all(begin[0]) if node.type == "switch_expression"]
        if not switches:
            return (own,)
        group = _case(switches[0], request)
        return (own, *self._calls_in(group, processor, _variables(begin[0]))) if group else (own,)

    def passed(self, entries: Iterable[Named], stops: Callable[[Named], bool]) -> dict[Named, tuple[Named, ...]]:
        """The methods that are reached, with what each of them calls; what is called by one that ``stops`` is not."""
        found: dict[Named, tuple[Named, ...]] = {}
        waiting = list(entries)
        begins = {one for one in waiting if one.member == BEGIN and len(waiting) > 1}
        while waiting:
            one = waiting.pop()
            if one in found:
                continue
            # of the method that looks at the code of the request, the other requests are not passed
            found[one] = () if stops(one) or one in begins else self._calls(one)
            waiting += found[one]
        return found

    # --- what is declared -------------------------------------------------------------------------------------

    def _add(self, node: Node, outer: _Class | None) -> None:
        name = _name(node)
        made = _Class(f"{outer.name}.{name}" if outer else name, outer, tuple(_base_names(node)))
        self._classes.setdefault(name, []).append(made)
        if outer:
            outer.inner[name] = made
        for member in body_of(node):
            if member.type in TYPES:
                self._add(member, made)
            elif member.type in FIELDS:
                for part in member.children_by_field_name("declarator"):
                    made.fields[_name(part)] = member.child_by_field_name("type")
            elif member.type in METHODS:
                made.methods.setdefault(_name(member), []).append(member)
            elif member.type in CONSTRUCTORS:
                made.methods.setdefault("<init>", []).append(member)

    def _find(self, name: str, at: _Class | None = None) -> list[_Class]:
        """The classes that a name means in a class: an inner one, else all of that name."""
        kept = self._meant.get((name, at))
        if kept is None:
            kept = self._meant[name, at] = self._look_for(name, at)
        return kept

    def _look_for(self, name: str, at: _Class | None) -> list[_Class]:
        last = name.rpartition(".")[2]
        place = at
        while place:
            for one in (place, *self._ancestors(place)):
                if last in one.inner:
                    return [one.inner[last]]
            place = place.outer
        found = self._classes.get(last, [])
        outermost = [one for one in found if one.outer is None]
        return (outermost if last == name else [one for one in found if one.name.endswith(name)]) or found

    def _above(self, one: _Class) -> Iterator[_Class]:
        for base in one.bases:
            yield from self._classes.get(base.rpartition(".")[2], [])

    def _ancestors(self, one: _Class) -> list[_Class]:
        kept = self._lines.get(one)
        if kept is not None:
            return kept
        found: dict[str, _Class] = {}
        waiting = list(self._above(one))
        while waiting:
            above = waiting.pop(0)
            if above.name not in found:
                found[above.name] = above
                waiting += self._above(above)
        self._lines[one] = list(found.values())
        return self._lines[one]

    def _descendants(self, one: _Class) -> list[_Class]:
        found: dict[str, _Class] = {}
        waiting = list(self._below.get(one.name, []))
        while waiting:
            below = waiting.pop()
            if below.name not in found:
                found[below.name] = below
                waiting += self._below.get(below.name, [])
        return list(found.values())

    def _method(self, at: _Class, name: str) -> _Class | None:
        """The class that has a method which is called in, or on, a class."""
        place: _Class | None = at
        while place:
            for one in (place, *self._ancestors(place)):
                if name in one.methods:
                    return one
            place = place.outer
        return None

    def _field(self, at: _Class, name: str) -> tuple[_Class, Node | None] | None:
        place: _Class | None = at
        while place:
            for one in (place, *self._ancestors(place)):
                if name in one.fields:
                    return one, one.fields[name]
            place = place.outer
        return None

    def _processor(self, request: str) -> _Class | None:
        """The class that a broker gives a request to."""
        for owner in self._classes.get(_REGISTERED.type, []):
            for method in owner.methods.get(_REGISTERED.member, []):
                for node in _all(method):
                    words = [text_of(word) for word in _arguments(node)]
                    if node.type == "method_invocation" and words[:1] == [_CODE + request] and len(words) > 1:
                        found, _ = self._type(_arguments(node)[1], owner, _variables(method))
                        return found[0] if found else None
        return next(iter(self._classes.get(_OTHERS, [])), None)

    # --- what is called ---------------------------------------------------------------------------------------

    def _calls(self, named: Named) -> tuple[Named, ...]:
        found = self._called.get(named)
        if found is None:
            outer = named.type.rpartition(".")[2]
            owners = [one for one in self._classes.get(outer, []) if one.name == named.type]
            nodes = [(one, node) for one in owners for node in one.methods.get(named.member, [])]
            calls = (call for one, node in nodes for call in self._calls_in([node], one, _variables(node)))
            found = self._called[named] = tuple(dict.fromkeys(calls))
        return found

    def _calls_in(self, nodes: Iterable[Node], at: _Class, variables: Mapping[str, Node]) -> Iterator[Named]:
        """The methods with something in them that are called in nodes, and those that override them."""
        self._types.clear()
        for node in (inner for one in nodes for inner in _all(one)):
            for owner, name in self._targets(node, at, variables):
                yield from self._may_reach(owner, name)

    def _may_reach(self, owner: _Class, name: str) -> list[Named]:
        """The methods with something in them that a call of one may be a call of."""
        found = self._reached.get((owner, name))
        if found is None:
            every = (owner, *(self._descendants(owner) if name != "<init>" else ()))
            found = [Named(one.name, name) for one in every if any(map(_decides, one.methods.get(name, ())))]
            self._reached[owner, name] = found
        return found

    def _targets(self, node: Node, at: _Class, variables: Mapping[str, Node]) -> Iterator[tuple[_Class, str]]:
        """(class, method) of a call, of a method that is only named, or of a constructor."""
        if node.type == "object_creation_expression":
            made = node.child_by_field_name("type")
            yield from ((one, "<init>") for one in self._find(_simple(made), at) if "<init>" in one.methods)
        elif node.type in ("method_invocation", "method_reference"):
            on = node.children[0] if node.type == "method_reference" else node.child_by_field_name("object")
            name = text_of(node.children[-1]) if node.type == "method_reference" else _name(node)
            classes = [at] if on is None else self._type(on, at, variables)[0]
            owners = (self._method(one, name) for one in classes)
            yield from ((owner, name) for owner in owners if owner is not None)

    def _type(self, node: Node, at: _Class, variables: Mapping[str, Node]) -> tuple[list[_Class], Node | None]:
        """The classes of an expression, and the node of its type where it is declared."""
        found = self._types.get(node.id)
        if found is None:
            found = self._types[node.id] = self._type_of(node, at, variables)
        return found

    def _type_of(self, node: Node, at: _Class, variables: Mapping[str, Node]) -> tuple[list[_Class], Node | None]:
        match node.type:
            case "this":
                return [at], None
            case "super":
                return self._ancestors(at)[:1], None
            case "parenthesized_expression":
                return self._type(node.named_children[0], at, variables)
            case "cast_expression" | "object_creation_expression":
                return self._declared(node.child_by_field_name("type"), at)
            case "identifier":
                name = text_of(node)
                if name in variables:
                    return self._declared(variables[name], at)
                own = self._field(at, name)
                return self._declared(own[1], own[0]) if own else (self._find(name, at), None)
            case "field_access":
                of = node.child_by_field_name("object")
                name = _part(node, "field")
                for one in self._type(of, at, variables)[0] if of else ():
                    own = self._field(one, name)
                    if own:
                        return self._declared(own[1], own[0])
                return self._find(name, at), None
            case "method_invocation":
                return self._answer(node, at, variables)
        return [], None

    def _answer(self, node: Node, at: _Class, variables: Mapping[str, Node]) -> tuple[list[_Class], Node | None]:
        """What a call gives: by the method's declaration, or an element of what it is called on."""
        classes: list[_Class] = []
        kind: Node | None = None
        for owner, name in self._targets(node, at, variables):
            for method in owner.methods[name]:
                kind = method.child_by_field_name("type")
                classes += self._declared(kind, owner)[0]
        on, name = node.child_by_field_name("object"), _name(node)
        if classes or on is None:
            return list(dict.fromkeys(classes)), kind
        _, of = self._type(on, at, variables)
        elements = _elements(of)
        if elements and name in _ELEMENTS:
            return self._declared(elements[_ELEMENTS[name]], at)
        return [], of if name in _SAME else kind

    def _declared(self, kind: Node | None, at: _Class) -> tuple[list[_Class], Node | None]:
        return (self._find(_simple(kind), at), kind) if kind is not None else ([], None)


def _all(node: Node) -> Iterator[Node]:
    """A node, and all in it."""
    yield node
    for child in node.children:
        yield from _all(child)


def _name(node: Node) -> str:
    return _part(node, "name")


def _part(node: Node, name: str) -> str:
    """The text of a part of a node; "" where it has no such part."""
    found = node.child_by_field_name(name)
    return text_of(found) if found is not None else ""


def _arguments(node: Node) -> list[Node]:
    found = node.child_by_field_name("arguments")
    return found.named_children if found else []


def _simple(kind: Node | None) -> str:
    """The name of a type, without what is in its brackets."""
    if kind is None:
        return ""
    if kind.type == "generic_type":
        return _simple(kind.children[0])
    return _simple(kind.child_by_field_name("element")) if kind.type == "array_type" else text_of(kind)


def _elements(kind: Node | None) -> list[Node]:
    """The types in the angle brackets of a type."""
    brackets = [one for one in kind.children if one.type == "type_arguments"] if kind is not None else []
    return brackets[0].named_children if brackets else []


def _base_names(node: Node) -> Iterator[str]:
    """What a class extends and implements, without what is in angle brackets."""
    for child in node.children:
        if child.type in ("superclass", "super_interfaces", "extends_interfaces"):
            for one in _all(child):
                inside = one.parent is not None and one.parent.type in ("scoped_type_identifier", "type_arguments")
                if one.type in ("type_identifier", "scoped_type_identifier") and not inside:
                    yield text_of(one)


def _variables(method: Node) -> dict[str, Node]:
    """The types of the parameters and local variables of a method, by name."""
    found: dict[str, Node] = {}
    for node in _all(method):
        kind = node.child_by_field_name("type")
        if kind is None:
            continue
        if node.type == "local_variable_declaration":
            found |= {_name(part): kind for part in node.children_by_field_name("declarator")}
        elif node.type in ("formal_parameter", "enhanced_for_statement", "resource"):
            found[_name(node)] = kind
    return found


def _case(switch: Node, request: str) -> list[Node]:
    """The statements for a request in a switch over codes; those of the default where it has no case of its own."""
    default: list[Node] = []
    body = switch.child_by_field_name("body")
    wanted = False
    for group in body.named_children if body else ():
        labels = [text_of(label) for label in group.named_children if label.type == "switch_label"]
        statements = [one for one in group.named_children if one.type != "switch_label"]
        wanted = wanted or any(label.removeprefix("case ").strip() == _CODE + request for label in labels)
        if wanted and statements:  # a case without statements goes on with the next one
            return statements
        if "default" in labels:
            default = statements
    return default


def _decides(method: Node) -> bool:
    """Does a method do more than read or set a field?"""
    body = method.child_by_field_name("body")
    if body is None:
        return False
    statements = [one for one in body.named_children if one.type not in COMMENTS]
    if len(statements) != 1:
        return bool(statements)
    (only,) = statements
    if only.type == "return_statement":
        given = only.named_children
        return bool(given) and not _is_plain(given[0])
    if only.type == "expression_statement" and only.named_children[0].type == "assignment_expression":
        right = only.named_children[0].child_by_field_name("right")
        return right is not None and not _is_plain(right)
    return True


def _is_plain(node: Node) -> bool:
    """Is it a name, a field or a constant?"""
    return node.type in ("identifier", "field_access", "this", "true", "false") or node.type.endswith("_literal")
