"""Adapter of small_consumer.py for ``rocketmq-conformance run "exec:python3 adapter.py"`` (see README.md)."""

import base64
import json
import sys

from small_consumer import OffsetStore, RefusedError, averagely, by_circle

CODES = {2: "SYSTEM_BUSY", 17: "TOPIC_NOT_EXIST"}
STRATEGIES = {"allocate_averagely": averagely, "allocate_by_circle": by_circle}


def exchange(address, code, fields, one_way=False):
    asked = {"id": 1, "address": address, "code": code, "ext": fields, "one_way": one_way}
    print(json.dumps({"exchange": asked}), flush=True)
    answer = json.loads(sys.stdin.readline())["exchanged"]
    if "fault" in answer:
        raise TimeoutError(answer["fault"])
    return answer["code"], answer["ext"], base64.b64decode(answer["body"])


def transport(topic, broker, code, fields, one_way):
    _, _, route = exchange("", 105, {"topic": topic})  # GET_ROUTEINFO_BY_TOPIC
    brokers = json.loads(route or '{"brokerDatas": []}')["brokerDatas"]
    addresses = {one["brokerName"]: one["brokerAddrs"]["0"] for one in brokers}
    return exchange(addresses[broker], code, fields, one_way)[:2]


def begin(case):
    global store, queues
    queues = [tuple(queue) for queue in case.get("queues", [])]
    store = OffsetStore(case["group"], transport) if queues else None


def do(name, args):
    try:
        if name in STRATEGIES:
            return {"ok": STRATEGIES[name](**args)}
        if store is None or not hasattr(store, name):
            return {"unsupported": "the small consumer does not have it"}
        if "queue" in args:  # queues of a case are given by their place, -1 for none
            args["queue"] = queues[args["queue"]] if args["queue"] >= 0 else None
        if "queues" in args:
            args["queues"] = [queues[at] for at in args["queues"]]
        found = getattr(store, name)(**args)
        return {"ok": [[queues.index(one), at] for one, at in found.items()] if name == "clone" else found}
    except RefusedError as error:
        return {"err": CODES[error.args[0]]}
    except (ValueError, KeyError, TimeoutError) as error:
        return {"err": {ValueError: "ILLEGAL_ARGUMENT", KeyError: "CLIENT", TimeoutError: "REMOTING"}[type(error)]}


for asked in map(json.loads, sys.stdin):
    if "hello" in asked:
        answer = {"hello": {"protocol": 1, "name": "small-consumer", "suites": ["allocation", "remote-store"]}}
    elif "reset" in asked:
        answer = {"ok": begin(asked["reset"])}
    else:
        answer = do(asked["do"], asked["args"])
    print(json.dumps({"id": asked["id"], **answer}), flush=True)
