"""Addresses with an option or a name that is not known: a sentence, which names what was meant."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from rocketmq_conformance.conformance.targets.address import AddressError
from rocketmq_conformance.conformance.targets.opener import open_address

MODULE = """
class Consumer:
    def __init__(self, settings): ...
    def start(self): ...
    def shutdown(self): ...

def of_settings(settings, colour="red"): return Consumer(settings)
def stepped(shade=1): return object()
"""


def test_an_option_that_is_not_known_is_named_with_the_one_that_was_meant(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "misspelt.py").write_text(MODULE, "utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    wrong = {
        "port?pase=20": "port has no option 'pase' (did you mean 'pace'?); it knows via=call",
        "mutant:whole-hours?clok=real": "mutant has no option 'clok' (did you mean 'clock'?)",
        "mutant:whole-hour": "No mutant is called 'whole-hour' (did you mean 'whole-hours'?)",
        "python:misspelt:of_settings?pase=20": "misspelt:of_settings has no option 'pase' (did you mean 'pace'?)",
        "python:misspelt:of_settings?color=blue": "(did you mean 'colour'?); it knows colour=…, pace=N",
        "python:misspelt:stepped?pace=20": "misspelt:stepped has no option 'pace'; it knows shade=….",
        "client?pase=20:cat": "client has no option 'pase' (did you mean 'pace'?)",
        "java-client:5.5.0?clok=real": "java-client has no option 'clok' (did you mean 'clock'?)",
        "broker?lik=4.9.7": "The fake broker has no option 'lik' (did you mean 'like'?)",
        "broker:5.5.0?vja=jars": "A broker address has no option 'vja' (did you mean 'via'?)",
        "broker:dir=.?lke=5.5.0": "broker:dir=PATH has no option 'lke' (did you mean 'like'?)",
        "brokr:5.5.0": "'brokr:5.5.0' is no address (did you mean 'broker'?)",
    }
    offenders = []
    for address, sentence in wrong.items():
        with pytest.raises(AddressError) as raised:
            open_address(address)
        if sentence not in str(raised.value):
            offenders.append((address, str(raised.value)))
    assert offenders == []
