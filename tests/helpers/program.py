"""A program that plays a consumer badly: ``python program.py BEHAVIOUR [FILE]``."""

import json
import os
import signal
import ssl
import sys
import time

from rocketmq_conformance.conformance.remoting.access import Access, Credentials, Tls
from rocketmq_conformance.conformance.remoting.client import Connection
from rocketmq_conformance.conformance.remoting.codes import Request


def access() -> Access:
    """What it was given to connect with, or what it takes instead as it behaves."""
    tls = None
    if "ROCKETMQ_TLS" in os.environ and behaviour != "plain":
        trusted = os.environ["ROCKETMQ_TLS_CA"] if behaviour != "mistrusts" else None
        tls = Tls(ssl.create_default_context(cafile=trusted))
    name = os.environ.get("ROCKETMQ_ACCESS_KEY", "") if behaviour != "unsigned" else ""
    return Access(Credentials(name, os.environ["ROCKETMQ_SECRET_KEY"]) if name else None, tls)


def beat(client: str, group: str = os.environ["ROCKETMQ_GROUP"]) -> Connection:
    """Connect, and send a heartbeat."""
    host, _, port = os.environ["ROCKETMQ_NAME_SERVER"].rpartition(":")
    connection = Connection(host, int(port), access=access())
    consumer = {"groupName": group, "subscriptionDataSet": []}
    body = json.dumps({"clientID": client, "consumerDataSet": [consumer]}).encode()
    connection.call(int(Request.HEART_BEAT), {}, body)
    if behaviour == "commits-unsigned":
        connection.access = Access(tls=connection.access.tls)
        connection.send(int(Request.UPDATE_CONSUMER_OFFSET), {"topic": os.environ["ROCKETMQ_TOPIC"]})
    return connection


behaviour, me = sys.argv[1], os.environ["ROCKETMQ_INSTANCE"]
if behaviour == "nameless-elsewhere":
    # in a session of its own
    behaviour = "nameless"
    child = os.fork()
    if child:
        sys.exit(os.waitpid(child, 0)[1])
    os.setsid()
if behaviour.startswith("only-") and os.environ["ROCKETMQ_KIND"] != behaviour.removeprefix("only-"):
    print(json.dumps({"unsupported": f"it is {behaviour}"}), flush=True)
    sys.exit(0)
if behaviour == "crashes-unless-orderly" and os.environ["ROCKETMQ_KIND"] != "orderly":
    sys.exit(1)
if behaviour == "second":
    # connects when it is started for the second time
    before = os.path.join(os.environ["ROCKETMQ_OFFSETS"], me)
    if not os.path.exists(before):
        open(before, "w").close()
        sys.exit(1)
if behaviour == "late" and me == "member-1" and not os.path.exists(sys.argv[2]):
    # does not connect in the first case
    open(sys.argv[2], "w").close()
    time.sleep(600)
if behaviour == "garbage":
    while True:
        os.write(1, b"x" * 65536)
        os.write(2, b"x" * 65536)
if behaviour == "ignores-term":
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
if behaviour == "connects":
    host, _, port = os.environ["ROCKETMQ_NAME_SERVER"].rpartition(":")
    Connection(host, int(port)).call(int(Request.GET_ROUTEINFO_BY_TOPIC), {"topic": "T"})
if behaviour.startswith("asks"):
    host, _, port = os.environ["ROCKETMQ_NAME_SERVER"].rpartition(":")
    while Connection(host, int(port)).call(int(Request.GET_ROUTEINFO_BY_TOPIC), {"topic": "T"}).code:
        time.sleep(0.05)
if behaviour == "listens":
    print('{"takes": ["listen"]}', flush=True)
if behaviour not in ("connects", "never") and (behaviour != "first" or me == "member-0"):
    nameless = [f"{9 - int(me[-1])}-x"]
    names = {"twice": [f"{me}-x", f"{me}-y"], "nameless": nameless, "asks-nameless": nameless, "same": ["x"]}
    kept = [beat(name) for name in names.get(behaviour, [me])] if behaviour != "elsewhere" else [beat(me, "other")]
    if behaviour == "produces":
        kept.append(beat("another", "other"))
    if behaviour == "nameless":
        # over a connection without a heartbeat
        host, _, port = os.environ["ROCKETMQ_NAME_SERVER"].rpartition(":")
        kept.append(Connection(host, int(port)))
        queue = {"consumerGroup": os.environ["ROCKETMQ_GROUP"], "topic": "T", "queueId": me[-1]}
        how = {"queueOffset": "12", "suspendTimeoutMillis": "15000", "sysFlag": "6", "maxMsgNums": "32"}
        kept[-1].post(int(Request.PULL_MESSAGE), queue | how | {"commitOffset": "0", "subscription": "*"})
    print('{"got": ["T", 0, 7]}\n{"other": 1}\nhello\n' + "x" * 10_000, flush=True)
if behaviour == "garbled":
    print('\n{"got": ["T", 7]}', flush=True)
if behaviour == "nameless":
    while kept[-1].collect(600):
        kept[-1].post(int(Request.PULL_MESSAGE), queue | how | {"commitOffset": "0", "subscription": "*"})
if behaviour == "ends":
    time.sleep(0.2)
    sys.exit(3)
time.sleep(600)
