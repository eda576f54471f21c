"""What the source of a rule names."""

from __future__ import annotations

from rocketmq_conformance.conformance.provenance.named import Citation, Named, sources_of
from rocketmq_conformance.models.release import Release

OLD, NEW = Release(4, 9, 7), Release(5, 5, 0)


def test_members_of_a_class_and_of_the_class_before() -> None:
    found = sources_of("A#one, #two @ 4.9.7, 5.5.0; B$C#<init> @ 5.5.0; #run @ 4.9.7; D")
    assert found.prose == ()
    assert found.citations == (
        Citation(Named("A", "one"), (OLD, NEW)),
        Citation(Named("A", "two"), (OLD, NEW)),
        Citation(Named("B.C", "<init>"), (NEW,)),
        Citation(Named("B.C", "run"), (OLD,)),
        Citation(Named("D", ""), ()),
    )


def test_anything_else_is_prose() -> None:
    found = sources_of("#orphan @ 5.5.0; A#m, library 2.0.43 @ 5.5.0; read A#m @ some time")
    assert found.prose == ("#orphan", "library 2.0.43", "read A#m @ some time")
    assert found.citations == (Citation(Named("A", "m"), (NEW,)),)
