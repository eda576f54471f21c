"""The page of changes has everything that the adapter interface has."""

from __future__ import annotations

import dataclasses
import inspect
import re

from places import ROOT

from rocketmq_conformance.conformance import adapter

PAGE = (ROOT / "docs" / "reference" / "adapter-changes.md").read_text("utf-8")


def test_it_names_every_class_method_and_field() -> None:
    named = set(re.findall(r"\w+", " ".join(re.findall(r"`([^`]+)`", PAGE))))
    classes = [one for one in vars(adapter).values() if inspect.isclass(one) and one.__module__ == adapter.__name__]
    members = {member for one in classes for member in vars(one) if inspect.isfunction(vars(one)[member])}
    fields = {field.name for one in (adapter.Hello, adapter.Case) for field in dataclasses.fields(one)}
    expected = {one.__name__ for one in classes} | {name for name in members | fields if not name.startswith("_")}
    assert sorted(expected - named) == []
