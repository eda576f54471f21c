"""Properties of brokers: defaults by release, the three lists, and what an address may set."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from fnmatch import fnmatchcase
from itertools import pairwise
from pathlib import Path

import pytest

from rocketmq_conformance.conformance.proof.kinds import ALL
from rocketmq_conformance.conformance.properties import defaults, found
from rocketmq_conformance.conformance.properties.defaults import HERE, defaults_of, new_with, releases_of, text_of
from rocketmq_conformance.conformance.properties.found import LISTED_ONLY, MODELLED, UNCLASSIFIED, off_default
from rocketmq_conformance.conformance.properties.harmless import AT_LEAST, HARMLESS, why_harmless
from rocketmq_conformance.conformance.properties.listed import LISTED
from rocketmq_conformance.conformance.properties.settable import of_the_model, settable
from rocketmq_conformance.conformance.properties.unmodelled import UNMODELLED
from rocketmq_conformance.conformance.targets.broker.launch_config import broker_configuration
from rocketmq_conformance.models import rulebook
from rocketmq_conformance.models.broker.configuration import SETTINGS
from rocketmq_conformance.models.release import KNOWN, Release, Releases

NEWEST, OLD = Release(5, 5, 0), Release(4, 9, 7)
RELEASES = [Release.parse(unit.release.removesuffix("-incubating")) for unit in ALL["broker"].units]


# --- defaults ---------------------------------------------------------------------------------------------------


def test_the_file_has_the_defaults_of_every_release_that_can_be_started() -> None:
    assert len(RELEASES) == 34
    sizes = [len(defaults_of(release)) for release in RELEASES]
    assert sizes[0] > 120
    assert sizes[-1] > 480
    assert defaults_of(Release(5, 1, 4))["useServerSideResetOffset"] == "false"
    assert defaults_of(Release(5, 2, 0))["useServerSideResetOffset"] == "true"
    assert "useServerSideResetOffset" not in defaults_of(OLD)
    assert releases_of("useServerSideResetOffset") == (("5.1.0 – 5.1.4", "false"), ("5.2.0+", "true"))
    assert defaults_of(Release(9, 9, 9)) == defaults_of(KNOWN)


def test_no_default_is_of_the_machine_on_which_it_was_read() -> None:
    rows = [line.split("\t") for line in defaults.FILE.read_text("utf-8").splitlines()]
    assert [name for name, _, value in rows if "/" in value or "127.0.0.1" in value] == []
    assert {name for name, _, value in rows if value == HERE} >= {
        "brokerName",
        "listenPort",
        "sendMessageThreadPoolNums",
    }


def test_the_file_is_made_of_what_brokers_answer() -> None:
    old, middle, new = Release(4, 0, 0), Release(5, 1, 4), NEWEST
    read = {
        new: {"a": "1", "b": "x", "listenPort": "10911"},
        old: {"a": "1", "gone": "y"},
        middle: {"a": "1", "b": "w", "listenPort": "9"},
    }
    assert text_of(read).splitlines() == [
        "a\tall\t1",
        "b\t5.1.4\tw",
        "b\t5.5.0+\tx",
        "gone\tup to 4.0.0\ty",
        "listenPort\t5.1.4+\t*",
    ]
    assert defaults.parse("a=1\nb = c=d\n\nno property\n") == {"a": "1", "b ": " c=d"}


def wrong_settings() -> Iterator[str]:
    """Properties that the models describe in another way than brokers do."""
    for release in RELEASES:
        real = defaults_of(release)
        for name, setting in SETTINGS.items():
            if (release in Releases.parse(setting.releases)) != (name in real):
                yield f"{name} of {release}"
            elif name in real and setting.default_of(release) != real[name]:
                yield f"default of {name} of {release}"


def test_the_models_know_the_defaults_of_their_properties() -> None:
    assert list(wrong_settings()) == []
    assert [name for name, one in SETTINGS.items() if not set(one.rules) <= set(rulebook.RULES)] == []
    assert [name for name, one in SETTINGS.items() if not one.allows(one.default)] == []


# --- four lists -------------------------------------------------------------------------------------------------

NAMES = set(defaults.names()) | defaults_of(NEWEST).keys()


def lists_of(name: str) -> list[str]:
    """The lists that a property is on."""
    patterns = {"harmless": HARMLESS, "unmodelled": UNMODELLED}
    found = [one for one, table in patterns.items() if any(fnmatchcase(name, p) for ps in table.values() for p in ps)]
    names = {"modelled": SETTINGS, "listed": LISTED, "harmless from a number on": AT_LEAST}
    return found + [one for one, listed in names.items() if name in listed]


def test_every_property_of_a_release_is_on_one_list() -> None:
    assert [(name, lists_of(name)) for name in sorted(NAMES) if len(lists_of(name)) != 1] == []
    assert {*SETTINGS, *LISTED, *AT_LEAST} <= NAMES
    patterns = [pattern for table in (HARMLESS, UNMODELLED) for some in table.values() for pattern in some]
    assert [pattern for pattern in patterns if not any(fnmatchcase(name, pattern) for name in NAMES)] == []
    assert [name for name, one in LISTED.items() if not set(one.rules) <= set(rulebook.RULES)] == []


def test_what_changed_an_answer_of_a_real_broker_is_not_called_harmless() -> None:
    changed = ("brokerRole", "enableFastChannelEventProcess", "enableMultiDispatch", "realTimePersistRocksDBConfig")
    assert [name for name in changed if why_harmless(name)] == []


@pytest.mark.parametrize(
    ("name", "enough", "too_small"),
    [
        ("serverChannelMaxIdleTimeSeconds", ("0", "120", "600"), ("1", "119")),
        ("channelExpiredTimeout", ("120000",), ("0", "1000", "never")),
        ("mappedFileSizeConsumeQueue", ("6000",), ("200",)),
    ],
)
def test_a_number_cannot_matter_from_a_bound_on(name: str, enough: tuple[str, ...], too_small: tuple[str, ...]) -> None:
    assert why_harmless(name)

    assert [value for value in enough if not why_harmless(name, value)] == []
    found = [one for value in too_small for one in off_default(NEWEST, {name: value})]
    assert [(one.value, one.kind) for one in found] == [(value, UNCLASSIFIED) for value in too_small]


def test_the_defaults_of_releases_cannot_matter() -> None:
    small = [(name, value) for name in AT_LEAST for _, value in releases_of(name) if not why_harmless(name, value)]
    assert small == []


def test_nothing_that_the_kit_configures_is_unclassified() -> None:
    for release in RELEASES:
        own = broker_configuration(release, Path("/b"), 10911, "127.0.0.1:9876")
        assert [str(one) for one in off_default(release, {**defaults_of(release), **own})] == []


def test_what_the_kit_counts_on_in_its_own_brokers_is_not_set() -> None:
    #: What a user may set instead: these make a start short, or a slow machine no reason to be refused.
    free = {"autoCreateTopicEnable", "maxHashSlotNum", "maxIndexNum", "brokerFastFailureEnable"}
    free |= {"osPageCacheBusyTimeOutMills", "transactionMetricFlushInterval", "timerFlushIntervalMs"}
    taken: set[str] = set()
    for release in RELEASES:
        own = broker_configuration(release, Path("/b"), 10911, "127.0.0.1:9876")
        for name in own.keys() & defaults_of(release).keys():
            with suppress(ValueError):
                taken.update(settable(release, [f"{name}={own[name]}"]))
    assert taken == free


def test_what_is_off_its_default_is_sorted() -> None:
    read = dict(defaults_of(NEWEST)) | {
        "lockInStrictMode": "true",
        "filterSupportRetry": "true",
        "enableMultiDispatch": "true",
        "listenPort": "1",
        "vendorProperty": "7",
        "brokerPermission": "nine",
    }
    sorted_out = {one.name: one for one in off_default(NEWEST, read)}
    assert {name: one.kind for name, one in sorted_out.items()} == {
        "brokerPermission": UNCLASSIFIED,
        "enableMultiDispatch": UNCLASSIFIED,
        "filterSupportRetry": LISTED_ONLY,
        "lockInStrictMode": MODELLED,
        "vendorProperty": UNCLASSIFIED,
    }
    assert "is judged: an unlock is answered before it is done" in sorted_out["lockInStrictMode"].sentence
    assert "makes differences in BQ-PULL-TAGS, BQ-SQL-PASS unsupported" in sorted_out["filterSupportRetry"].sentence
    assert sorted_out["vendorProperty"].sentence == (
        "vendorProperty=7 (its release has no such property) is unclassified: a difference decides nothing beside it"
    )
    assert sorted_out["enableMultiDispatch"].json()["kind"] == UNCLASSIFIED
    assert "is unclassified (how queues, topics, groups and off" in sorted_out["enableMultiDispatch"].sentence


def test_of_an_unknown_release_everything_that_may_matter_is_unclassified() -> None:
    kinds = {one.name: one.kind for one in off_default(None, {"lockInStrictMode": "false", "listenPort": "1"})}
    assert kinds == {"lockInStrictMode": UNCLASSIFIED}
    assert found.FoundProperty(name="a", value="b", default="", kind=UNCLASSIFIED).sentence.startswith(
        "a=b (its default"
    )


# --- a release that is not known --------------------------------------------------------------------------------

LATER = [*(release for release in sorted(RELEASES) if release >= Release(5, 0, 0)), KNOWN]
#: Properties on no list whose default a release changed: of a broker that somebody else has started it cannot be told
#: from a setting.
CHANGED = {"5.1.0": ["maxTopicLength"]}


@pytest.mark.parametrize(("before", "release"), list(pairwise(LATER)), ids=str)
def test_a_release_that_arrives_at_its_defaults_casts_no_doubt(before: Release, release: Release) -> None:
    """As if the kit knew the releases before it only."""
    own = broker_configuration(release, Path("/b"), 10911, "127.0.0.1:9876")
    read = {**defaults_of(release), **own}
    new = new_with(release, read, known=before)
    assert not set(new) & set(defaults_of(before))
    started = list(off_default(release, read, (), known=before))
    assert [str(one) for one in started if one.kind == UNCLASSIFIED] == []
    running = [one for one in off_default(release, read, known=before) if one.kind == UNCLASSIFIED]
    assert [one.name for one in running] == CHANGED.get(str(release), [])
    assert all(f"its default in {before} is" in one.sentence for one in running)


def test_what_is_set_of_a_release_that_is_not_known_is_odd() -> None:
    release, read = Release(9, 9, 9), {**defaults_of(KNOWN), "brandNew": "1", "enableMultiDispatch": "true"}
    assert new_with(release, read) == ("brandNew",)
    assert new_with(KNOWN, read) == ()
    assert settable(release, ["brandNew=1"]) == {"brandNew": "1"}
    odd = {"brandNew": ("brandNew",), "enableMultiDispatch": ("enableMultiDispatch",), "other": ()}
    for given, names in odd.items():
        assert tuple(one.name for one in off_default(release, read, (given,))) == names
    assert [one.name for one in off_default(release, read)] == ["enableMultiDispatch"]


# --- what an address sets ---------------------------------------------------------------------------------------


def test_an_address_sets_properties() -> None:
    pairs = ["lockInStrictMode=true", "metricsLabel=a:b c", "maxMessageSize=-1", "messageStorePlugIn=a=b"]
    assert settable(NEWEST, pairs) == {
        "lockInStrictMode": "true",
        "metricsLabel": "a:b c",
        "maxMessageSize": "-1",
        "messageStorePlugIn": "a=b",
    }
    assert of_the_model(NEWEST, {"lockInStrictMode": "true"}) == {"lockInStrictMode": "true"}


@pytest.mark.parametrize(
    ("release", "pair", "sentence"),
    [
        (
            OLD,
            "useServerSideResetOffset=true",
            "A broker 4.9.7 has no property 'useServerSideResetOffset'; releases 5.1.0",
        ),
        (NEWEST, "lockInStrictMod=true", "A broker 5.5.0 has no property 'lockInStrictMod', but lockInStrictMode."),
        (NEWEST, "qqq=1", "A broker 5.5.0 has no property 'qqq'."),
        (NEWEST, "lockInStrictMode=yes", "lockInStrictMode cannot be 'yes'; write one of true, false."),
        (NEWEST, "enableMultiDispatch=TRUE", "enableMultiDispatch cannot be 'TRUE'; write true or false."),
        (NEWEST, "maxMessageSize=4k", "maxMessageSize cannot be '4k'; write a whole number."),
        (NEWEST, "defaultPopShareQueueNum=few", "defaultPopShareQueueNum cannot be 'few'; write a whole number."),
        (NEWEST, "brokerPermission=8", "brokerPermission cannot be '8'; write one of 0, 1, 2, 3, 4, 5, 6, 7."),
        (NEWEST, "lockInStrictMode", "set=lockInStrictMode sets no property; write set=NAME=VALUE"),
        (NEWEST, "=true", "set==true sets no property"),
        (NEWEST, "listenPort=1", "listenPort is what the kit reaches its own broker by; leave it out."),
        (NEWEST, "messageDelayLevel=1s 5s", "messageDelayLevel is what the kit's cases wait by; leave it out."),
        (OLD, "mappedFileSizeCommitLog=1", "mappedFileSizeCommitLog is what the kit's stores are made for; leave it"),
    ],
)
def test_a_wrong_setting_is_refused_in_one_sentence(release: Release, pair: str, sentence: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(sentence)}"):
        settable(release, [pair])


def test_a_property_is_set_once() -> None:
    with pytest.raises(ValueError, match="is set to 'true' and to 'false'"):
        settable(NEWEST, ["lockInStrictMode=true", "lockInStrictMode=false"])
    assert settable(NEWEST, ["lockInStrictMode=true"] * 2) == {"lockInStrictMode": "true"}


def test_the_fake_broker_is_configured_by_what_the_models_know() -> None:
    with pytest.raises(ValueError, match="cannot be configured by enableMultiDispatch; it knows accessMessageInMemory"):
        of_the_model(NEWEST, {"enableMultiDispatch": "true"})


def test_a_count_or_a_time_of_none_is_not_harmless() -> None:
    counts = ("topicQueueLockNum", "consumerOffsetUpdateVersionStep", "sharedByteBufferNum", "maxIndexNum")
    times = ("osPageCacheBusyTimeOutMills", "waitTimeMillsInSendQueue", "flushDelayOffsetInterval", "slaveTimeout")
    both = (*counts, *times)
    assert [name for name in both if why_harmless(name, "0") or not why_harmless(name, "5000")] == []
    assert not why_harmless("maxIndexNum", "1")
