"""One case of the suite of messages, played with a program for each member that may say what it reads."""

from __future__ import annotations

from typing import Any

from rocketmq_conformance.conformance.fakes.traffic import Brought
from rocketmq_conformance.conformance.targets.client_program.played_group import PlayedGroup
from rocketmq_conformance.conformance.targets.client_program.traffic_wait import Limits
from rocketmq_conformance.models.client.plan_words import EVERY
from rocketmq_conformance.models.client.readable_messages import RULE_OF
from rocketmq_conformance.models.message_forms import BATCH, LONG_HOSTS, LONG_NAME
from rocketmq_conformance.models.outcome import Outcome, Value
from rocketmq_conformance.suites import whole_messages as operations
from rocketmq_conformance.suites.declare.operation import Operation

#: The rules that show in what members say that they were given, and those that show in what they read alone.
_GIVEN = frozenset(RULE_OF.values())
_BODIES = frozenset({"WHOLE-MSG-READ", "WHOLE-MSG-TYPE"})


class PlayedMessages(PlayedGroup):
    """The members of one case, which are given messages of several forms."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        #: The messages of the step that are not plain, by queue and offset; and whether any member said what it read.
        self._formed: set[tuple[int, int]] = set()
        self._says_more = False

    def _do(self, operation: Operation) -> Outcome:
        self._formed.clear()
        match operation:
            case operations.SendAs(queue, form) | operations.SendTyped(queue, form):
                return self._send_as(operation, queue, form)
            case operations.SendBatch(queue):
                return self._send_as(operation, queue, BATCH)
            case operations.SendFromAfar(queue):
                return self._send_as(operation, queue, LONG_HOSTS)
            case operations.SendNamed(queue):
                return self._send_as(operation, queue, LONG_NAME)
            case _:
                return super()._do(operation)

    def _send_as(self, operation: Operation, queue: int, form: str) -> Outcome:
        def arrive() -> None:
            for number in self.case.seen:
                if queue in (number, EVERY):
                    self._formed.update((number, offset) for offset in self.case.send_as(form, number))

        return self._played(operation, arrive)

    def _shown(self, brought: list[Brought]) -> Value:
        seen = super()._shown(brought)
        assert isinstance(seen, tuple)
        places, messages, *rest = seen
        # without lines nothing shows which of what pulls brought could be read
        return (places, messages if self.says or not brought else None, *rest, self._read())

    def _unshown(self, limits: Limits) -> frozenset[str]:
        """Also the rules about what is given, or read, where members do not say that."""
        silent = _GIVEN if not self.says else _BODIES if not self._says_more else frozenset()
        return super()._unshown(limits) | (silent & self._points.rules)

    def _read(self) -> Value:
        """What members said that they read of the messages of this step that are not plain; None when they never say
        such things."""
        topic, programs = self.case.topic, self.members.programs
        self._says_more = self._says_more or any(program.read for program in programs.values())
        if not self._says_more:
            return None if self._formed else ()
        return tuple(
            sorted(
                (member, queue, offset, *program.read[topic, queue, offset])
                for member, program in programs.items()
                for queue, offset in self._formed
                if (topic, queue, offset) in program.read
            )
        )
