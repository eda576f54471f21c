"""Call graphs of Java sources: what a request passes on its way to an answer."""

from __future__ import annotations

import pytest

from rocketmq_conformance.conformance.provenance.call_graph import CallGraph
from rocketmq_conformance.conformance.provenance.named import Named

SOURCES = {
    "BrokerController": """class BrokerController {
        private Store store; private PullProcessor pulls = new PullProcessor();
        Store getStore() { return this.store; }
        void registerProcessor() { server.registerProcessor(RequestCode.PULL, this.pulls, null); }
    }""",
    "AdminBrokerProcessor": """class AdminBrokerProcessor {
        private final BrokerController controller;
        Object processRequest(Request request) {
            switch (request.getCode()) {
                case RequestCode.OLD:
                case RequestCode.DELETE: return this.delete(request);
                default: return unknown(request);
            }
        }
        Object delete(Request request) { check(); return this.controller.getStore().delete(1); }
        void check() { int a = 1; Rules.look(a); }
        Object unknown(Request request) { log(); return null; }
    }""",
    "PullProcessor": """class PullProcessor {
        Map<String, Queue> queues;
        Object processRequest(Request request) { return processRequest(request, true); }
        Object processRequest(Request request, boolean first) {
            for (Map.Entry<String, Queue> entry : queues.entrySet()) { entry.getValue().first(); }
            Queue found = queues.get("a");
            Runnable later = () -> found.last();
            return new Queue(1).find(Queue::size);
        }
    }""",
    "Store": "interface Store { Object delete(int queue); }",
    "FileStore": """class FileStore extends Base implements Store {
        public Object delete(int queue) { return super.clean(queue); }
        static class Inner { void own() { outer(); } }
        void outer() { outer2(); } void outer2() { int b = 2; int c; }
    }""",
    "OtherStore": """class OtherStore implements Store {
        public Object delete(int queue) { FileStore.Inner inner = make(); inner.own(); return 1; }
        FileStore.Inner make() { return new FileStore.Inner(); }
    }""",
    "Base": "abstract class Base { Object clean(int queue) { int a = queue; return a; } }",
    "Rules": """class Rules {
        private int x;
        static void look(int a) { set(a); get(); }
        static int get() { return x; }
        static void set(int a) { x = a; }
    }""",
    "Queue": """class Queue {
        Queue(int a) { start(a); }
        void first() { int a = 1; int b = 2; } void last() { int a = 1; int b = 2; } int size() { int a = 1; return a; }
        Object find(Object by) { int a = 1; return a; } void start(int a) { int b = a; int c; }
    }""",
}


def passed(request: str, stops: str = "") -> set[str]:
    graph = CallGraph({f"{name}.java": text.encode() for name, text in SOURCES.items()})
    return set(map(str, graph.passed(graph.entries(request), lambda named: str(named) == stops)))


@pytest.mark.parametrize("request_code", ["DELETE", "OLD"])
def test_a_request_passes_its_case_and_every_implementation(request_code: str) -> None:
    assert passed(request_code) == {
        *("AdminBrokerProcessor#processRequest", "AdminBrokerProcessor#delete", "AdminBrokerProcessor#check"),
        *("FileStore#delete", "Base#clean", "OtherStore#delete", "OtherStore#make", "FileStore.Inner#own"),
        *("FileStore#outer", "FileStore#outer2", "Rules#look"),
    }


def test_methods_that_read_or_set_a_field_decide_nothing() -> None:
    assert not {"Rules#get", "Rules#set", "BrokerController#getStore", "Store#delete"} & passed("DELETE")


def test_a_request_without_a_case_passes_the_default() -> None:
    assert passed("NEVER") == {"AdminBrokerProcessor#processRequest", "AdminBrokerProcessor#unknown"}


def test_a_request_with_a_processor_of_its_own_passes_all_of_it() -> None:
    """Elements of collections, constructors, methods that are only named, and calls in a lambda."""
    assert passed("PULL") == {
        *("PullProcessor#processRequest", "Queue#<init>", "Queue#first", "Queue#last", "Queue#size", "Queue#find"),
        "Queue#start",
    }


def test_what_is_called_by_an_excused_method_is_not_passed() -> None:
    assert "Base#clean" not in passed("DELETE", "FileStore#delete")


def test_a_broker_without_processors_passes_nothing() -> None:
    assert CallGraph({}).entries("PULL") == ()
    assert CallGraph({"A.java": b"class A { void m() { } }"}).passed([Named("A", "m")], lambda named: False) == {
        Named("A", "m"): ()
    }
