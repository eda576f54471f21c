"""Messages as producers send them and brokers store them, in the hands of whole consumers (WHOLE-MSG-*).

A message has a form: how its body is compressed, whether it is a batch, and what else its layout depends on. It arrives
between two plain ones, and all of them come in one answer to a pull; so it shows what becomes of those around it where
a client cannot read it.
"""

from __future__ import annotations

from dataclasses import replace

from rocketmq_conformance.models.client.plan_words import EVERY
from rocketmq_conformance.models.client.readable_messages import RULE_OF, UNREADABLE
from rocketmq_conformance.models.client.whole_moves import ArriveAs
from rocketmq_conformance.models.client.whole_push import WholePushModel, WholePushState, reason_of, shown
from rocketmq_conformance.models.message_forms import BATCH, BODIES, KEYS, LONG_HOSTS, LONG_NAME
from rocketmq_conformance.models.rule import Answer, Rule

RULES = (
    Rule(
        "WHOLE-MSG-READ",
        "A listener is given each message with the body and the keys that its producer sent, whatever its size and its "
        "other properties are; a body that is compressed (bit 0 of the system flag) has been uncompressed, by zlib "
        "where nothing says how.",
        "MessageDecoder#decode @ 4.0.0, 4.9.8, 5.3.3",
    ),
    Rule(
        "WHOLE-MSG-TYPE",
        "Bits 8 to 10 of the system flag say how a body is compressed: 1 is LZ4, 2 zstd, 3 zlib.",
        "MessageDecoder#decode @ 4.9.4, 4.9.8, 5.0.0, 5.3.3",
        releases="4.9.4 – 4.9.8, 5.0.0+",
    ),
    Rule(
        "WHOLE-MSG-BATCH",
        "A message that is a batch to be taken apart (bits 6 and 7 of the system flag) is given as the messages in it, "
        "whose offsets follow one another from its own on.",
        "PullAPIWrapper#processPullResult, MessageDecoder#decodeMessage @ 5.0.0, 5.3.3",
        releases="5.0.0+",
    ),
    Rule(
        "WHOLE-MSG-HOSTS",
        "The addresses of the hosts where a message was born and stored have 16 bytes where bits 4 and 5 of the system "
        "flag say so.",
        "MessageDecoder#decode @ 4.6.0, 4.9.8, 5.3.3",
        releases="4.6.0+",
    ),
    Rule(
        "WHOLE-MSG-NAME",
        "The length of the topic's name has two bytes in messages whose magic number is -626843477, which brokers from "
        "5.1.0 on store where it is longer than 127 bytes.",
        "MessageDecoder#decode @ 5.1.0, 5.3.3",
        releases="5.1.0+",
    ),
    Rule(
        "WHOLE-MSG-BAD",
        "A message whose body cannot be uncompressed, or is compressed in an unknown way, is given to no listener. "
        "Consumption goes on behind it, and its offset is committed with those around it; what comes behind it in the "
        "same answer is passed over, too.",
        "MessageDecoder#decode, #decodes, DefaultMQPushConsumerImpl#pullMessage @ 4.9.8, 5.3.3",
    ),
)


def has_members(state: object) -> bool:
    """Does a member run, so that all queues are pulled, and nothing else waits in them?"""
    return isinstance(state, WholePushState) and bool(state.group.members)


def is_settled(state: object) -> bool:
    """Has every member stored where it waits, also behind messages that it was not given?"""
    return isinstance(state, WholePushState) and all(
        member.pulls.get(queue) == offset
        for member in state.group.members.values()
        for queue, offset in member.memory.items()
    )


class WholeMessagesModel(WholePushModel):
    """The observations of a group of consumers of one profile; every method is pure."""

    __slots__ = ()

    def send_as(self, state: WholePushState, queue: int, form: str) -> Answer[WholePushState]:
        """A message of a form arrives in a queue, or in every queue, between two plain ones."""
        group, client = state.group, self._group.start.client
        for number in range(group.broker.topics[self._topology.topic].read_queues):
            if queue in (number, EVERY):
                group = self._group.move(group, ArriveAs(form, number))
        state, seen, why = self._look(state._replace(group=group))
        assert isinstance(seen, tuple)
        if not seen[1]:
            return state, seen, why
        why = replace(why, rules=(RULE_OF[form], *why.rules), kind=form)
        accident = form in UNREADABLE and client.passes_over_rest
        return state, seen, replace(why, quirk=accident, either=accident)

    def send_batch(self, state: WholePushState, queue: int) -> Answer[WholePushState]:
        """Messages arrive that are a batch in one."""
        return self.send_as(state, queue, BATCH)

    def send_from_afar(self, state: WholePushState, queue: int) -> Answer[WholePushState]:
        """A message arrives whose hosts have long addresses."""
        return self.send_as(state, queue, LONG_HOSTS)

    def send_named(self, state: WholePushState, queue: int) -> Answer[WholePushState]:
        """A message arrives that is stored as one with a long topic name."""
        return self.send_as(state, queue, LONG_NAME)

    def _look(self, state: WholePushState) -> Answer[WholePushState]:
        """What is seen of push consumers, then what they read of the messages that are not plain."""
        before = state.group.broker.stored
        state, seen, fired = self._seen(state)
        if state.group.broker.stored != before and seen[1]:
            fired = (*fired, "TIMER-PERSIST")
        forms = state.group.forms
        read = tuple(
            (member, queue, offset, len(BODIES[form]), KEYS.get(form, ""))
            for member, queue, first, count in seen[1]
            for offset in range(first, first + count)
            if (form := forms.get((queue, offset)))
        )
        return shown(state, (*seen, read), reason_of(fired, bool(seen[1])))
