"""The tables of a campaign: their columns and their place in its folder.

A campaign's folder::

    campaign.json                                       what was asked for; a resumed campaign must ask for the same
    runs/run-0000.parquet                               one row per session: the first, and every resumption
    cases/suite=remote-store/block-00000000.parquet     one row per case and address
    behaviours/suite=…/block-….parquet                  what the ids of ``answers`` and ``transitions`` mean
    steps/suite=…/block-….parquet                       full rows of sampled cases and of divergences
    divergences/suite=…/block-….parquet                 one row per case that differs
    plans/remote-store.1a2b3c4d.plan.jsonl              the minimal plan of every cluster of divergences
    events.jsonl                                        the campaign as every report reads it

A *block* is a fixed range of the cases of one suite, and the unit that is finished or not: its file of ``cases`` is
renamed into place last, whole, so whatever is under ``cases`` is finished and is there once. Steps, divergences and
behaviours have no file for a block that has none. The suite is the partition column ``suite`` of every table.
"""

from __future__ import annotations

import pyarrow as pa


def _field(name: str, type_: pa.DataType, meaning: str) -> pa.Field:
    return pa.field(name, type_, nullable=False, metadata={"doc": meaning})


#: Text that repeats: a dictionary in memory, plain strings for every reader of the files.
TEXT = pa.dictionary(pa.int32(), pa.string())

CASES = pa.schema(
    [
        _field("case", pa.int64(), "number of the case in its suite; with the seed it gives the plan"),
        _field("address", TEXT, "the implementation that was judged"),
        _field("arm", TEXT, "random, or steered: the suite was given more because it still found new behaviour"),
        _field("verdict", TEXT, "conforms, diverges, undecided, could not run or unsupported"),
        _field("digest", pa.int64(), "64 bits over all results of the case; 0 when there are none"),
        _field("steps", pa.int32(), "steps that were judged"),
        _field("seconds", pa.float32(), "wall time of the case"),
        _field("rules", pa.list_(pa.string()), "rules that the model's answers rest on"),
        _field("answers", pa.list_(pa.int64()), "behaviours: rule, kind of state and outcome class"),
        _field("transitions", pa.list_(pa.int64()), "behaviours: pairs of kinds of state that followed one another"),
        _field("reason", TEXT, "why the verdict is not conforms; empty otherwise"),
        _field("unsupported", pa.list_(pa.string()), "operations of the case that are not offered; they were left out"),
        _field("voice", pa.int16(), "addresses with one number did the same in the case; 0 where that is not known"),
        _field("rules_voice", pa.int16(), "the voice of the rules that judge the address: what they would have it do"),
    ]
)

BEHAVIOURS = pa.schema(
    [
        _field("id", pa.int64(), "the same on every machine; a row may be there more than once"),
        _field("kind", TEXT, "answer or transition"),
        _field("rules", pa.list_(pa.string()), "rules of the answer, or of the first of the pair"),
        _field("state_kind", pa.string(), "kind of state that the rule met"),
        _field("outcome", pa.string(), "outcome class of the answer; empty for a transition"),
        _field("next_rules", pa.list_(pa.string()), "rules of the second of the pair; empty for an answer"),
        _field("next_state_kind", pa.string(), "kind of state of the second of the pair; empty for an answer"),
    ]
)

STEPS = pa.schema(
    [
        _field("case", pa.int64(), "number of the case in its suite"),
        _field("address", TEXT, "the implementation that was judged"),
        _field("step", pa.int32(), "1 is the first step that was judged"),
        _field("operation", TEXT, "name of the operation"),
        _field("arguments", pa.string(), "its arguments, a JSON object"),
        _field("expected", pa.string(), "what the model expects, as reports write it"),
        _field("observed", pa.string(), "what the implementation did"),
        _field("rules", pa.list_(pa.string()), "rules behind what is expected"),
        _field("state_kind", TEXT, "kind of state that the rule met"),
        _field("expected_class", TEXT, "outcome class of expected"),
        _field("observed_class", TEXT, "outcome class of observed"),
        _field("diverges", pa.bool_(), "is observed not what is expected?"),
    ]
)

DIVERGENCES = pa.schema(
    [
        _field("case", pa.int64(), "number of the case in its suite"),
        _field("address", TEXT, "the implementation that differs"),
        _field("against", TEXT, "model, or the address that it differs from"),
        _field("step", pa.int32(), "the first step that differs; 1 is the first one judged"),
        _field("fingerprint", TEXT, "equal for divergences that differ only in values"),
        _field("operation", TEXT, "name of the operation of that step"),
        _field("rules", pa.list_(pa.string()), "rules behind what is expected"),
        _field("state_kind", TEXT, "kind of state that the rule met"),
        _field("expected", pa.string(), "what the model expects; for two addresses: what the other one did"),
        _field("observed", pa.string(), "what the implementation did"),
        _field("expected_class", TEXT, "outcome class of expected"),
        _field("observed_class", TEXT, "outcome class of observed"),
    ]
)

RUNS = pa.schema(
    [
        _field("session", pa.int32(), "0 begins the campaign; every resumption is one more"),
        _field("version", pa.int32(), "version of the tables"),
        _field("kit", pa.string(), "version of the kit"),
        _field("rulebook", pa.string(), "digest of the rule book that judged"),
        _field("seed", pa.int64(), "seed of the plans"),
        _field("configuration", pa.string(), "what was asked for, a JSON object"),
        _field("addresses", pa.list_(pa.string()), "what was judged"),
        _field("implementations", pa.list_(pa.string()), "their names, in the same order"),
        _field("versions", pa.list_(pa.string()), "their versions"),
        _field("profiles", pa.list_(pa.string()), "releases that judged them, JSON objects"),
        _field("master", pa.string(), "where Spark ran"),
        _field("started", pa.timestamp("us", tz="UTC"), "when the session began"),
        _field("seconds", pa.float64(), "how long it took"),
        _field("conforms", pa.int64(), "cases of all sessions so far, by verdict; one per case and address"),
        _field("diverges", pa.int64(), "cases that diverge"),
        _field("undecided", pa.int64(), "cases that decided nothing"),
        _field("could_not_run", pa.int64(), "cases that could not be run"),
        _field("unsupported", pa.int64(), "cases that are not supported"),
        _field("left", pa.int64(), "cases that were asked for and not played yet"),
        _field("steps", pa.int64(), "steps of all sessions so far"),
        _field("peak_memory", pa.int64(), "most memory of a worker's player in this session, in bytes"),
        _field("stopped", pa.string(), "why the session ended before its time; empty otherwise"),
        _field("verdict", pa.string(), "the verdict of the campaign so far"),
    ]
)

#: Tables that are kept by suite and block, by name of the folder.
BLOCKS: dict[str, pa.Schema] = {
    "cases": CASES,
    "behaviours": BEHAVIOURS,
    "steps": STEPS,
    "divergences": DIVERGENCES,
}
#: Every table by name.
TABLES: dict[str, pa.Schema] = {"runs": RUNS, **BLOCKS}
