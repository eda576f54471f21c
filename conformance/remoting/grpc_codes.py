"""Numbers of RocketMQ 5's gRPC protocol that have names."""

from __future__ import annotations

from enum import IntEnum


class Code(IntEnum):
    """What a status says."""

    OK = 20000
    MULTIPLE_RESULTS = 30000
    ILLEGAL_CONSUMER_GROUP = 40003
    INVALID_RECEIPT_HANDLE = 40013
    UNRECOGNIZED_CLIENT_TYPE = 40015
    CLIENT_ID_REQUIRED = 40017
    MESSAGE_NOT_FOUND = 40401
    TOPIC_NOT_FOUND = 40402
    TOO_MANY_REQUESTS = 42900
    INTERNAL_SERVER_ERROR = 50001
    PROXY_TIMEOUT = 50400


class ClientType(IntEnum):
    """What a client says that it is."""

    PRODUCER = 1
    PUSH_CONSUMER = 2
    SIMPLE_CONSUMER = 3


class DigestType(IntEnum):
    """How the checksum of a body is made."""

    CRC32 = 1
    MD5 = 2
    SHA1 = 3


class Encoding(IntEnum):
    """How a body is encoded."""

    IDENTITY = 1
    GZIP = 2
