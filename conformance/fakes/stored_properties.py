"""The text of a message's properties as a broker stores it: what it adds to what was sent, and leaves out, by release.

A message whose text would be too long is refused. Otherwise the fake broker leaves out what is added, as no client may
rely on it (SendMessageProcessor#sendMessage, AbstractSendMessageProcessor#buildMsgContext,
MessageDecoder#messageProperties2String).
"""

from __future__ import annotations

from collections.abc import Mapping

from rocketmq_conformance.conformance.remoting.message import format_properties, parse_properties
from rocketmq_conformance.models.release import Release, Releases

#: The longest text of a message's properties (bytes).
LONGEST = 32767
#: An id in the place of one that the client did not give; of brokers with an IPv6 address it is 24 digits longer.
_IDS = {"UNIQ_KEY": "0" * 32}
_TRACES = {"MSG_REGION": "DefaultRegion", "TRACE_ON": "true"}
#: Says whether the client waits until a message is on disk.
_WAIT = "WAIT"
_NAMES_CLUSTER = Releases.parse("4.6.0 – 4.6.1, 4.7.1+")
_GIVES_IDS = _TRACED = Releases.parse("5.0.0+")
_LEAVES_OUT_WAIT = Releases.parse("4.9.1 – 4.9.8, 5.0.0-ALPHA")
#: Releases whose text has no separator at its end.
_OPEN_ENDED = Releases.parse("4.9.1 – 4.9.8, 5.0.0-ALPHA – 5.1.4")


class StoredProperties:
    """What a broker of a release stores, in a cluster of this name."""

    def __init__(self, release: Release, cluster: str) -> None:
        self._default = _IDS if release in _GIVES_IDS else {}
        self._stamp = (_TRACES if release in _TRACED else {}) | (
            {"CLUSTER": cluster} if release in _NAMES_CLUSTER else {}
        )
        self._left_out = _WAIT if release in _LEAVES_OUT_WAIT else ""
        self._open_ended = release in _OPEN_ENDED

    def text(self, sent: str, added: Mapping[str, str]) -> str | None:
        """The text for what was sent, None if it is too long; ``added`` has a message that waits for its time."""
        text = sent
        if self._stamp or added:
            found = {name: value for name, value in parse_properties(sent).items() if name and value}
            found.pop(self._left_out, None)
            text = format_properties({**self._default, **found, **self._stamp, **added})
            text = text[:-1] if self._open_ended else text
        if len(text.encode()) > LONGEST:
            return None
        return text if len(sent.encode()) > LONGEST else sent
