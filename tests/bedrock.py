"""Amazon Bedrock as a test scripts it: where boto3 finds it, and the frames of its event stream.

boto3 itself is real: it signs requests, and checks requests and answers against Amazon's own
description of the service. We never called the real Bedrock.
"""

import json
import struct
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Literal
from zlib import crc32

import pytest
from tests.endpoint import Reply, ScriptedEndpoint, Seen

ID, SECRET = "AKIDOFTHETESTS", "secret-of-the-tests"
REGION = "eu-central-1"
URL = f"bedrock:{REGION}"
_TEXT = 7  # the kind of a header's value


@contextmanager
def aws(**environment: str) -> Iterator[None]:
    """Nothing of this machine's own set-up of AWS, and no question to a metadata server."""
    with pytest.MonkeyPatch.context() as patch:
        nowhere = str(Path(__file__).parent / "no-such-file")
        clean = {"AWS_CONFIG_FILE": nowhere, "AWS_SHARED_CREDENTIALS_FILE": nowhere}
        clean["AWS_EC2_METADATA_DISABLED"] = "true"
        for name in ("AWS_PROFILE", "AWS_REGION", "AWS_DEFAULT_REGION", "AWS_SESSION_TOKEN"):
            patch.delenv(name, raising=False)
        for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_BEARER_TOKEN_BEDROCK"):
            patch.delenv(name, raising=False)
        for name, value in {**clean, **environment}.items():
            patch.setenv(name, value)
        yield


@contextmanager
def bedrock(server: ScriptedEndpoint | str) -> Iterator[None]:
    """As long as the block, boto3 takes this for Amazon's."""
    url = server if isinstance(server, str) else server.url.removesuffix("/v1")
    names = ("AWS_ENDPOINT_URL_BEDROCK_RUNTIME", "AWS_ENDPOINT_URL_BEDROCK_AGENT_RUNTIME")
    keys = {"AWS_ACCESS_KEY_ID": ID, "AWS_SECRET_ACCESS_KEY": SECRET}
    with aws(**keys, **dict.fromkeys(names, url)):
        yield


def refusal(kind: str, status: int, message: str = "no", **headers: str) -> Reply:
    return Reply({"message": message}, status, {"x-amzn-ErrorType": kind, **headers})


def frame(headers: Mapping[str, str], payload: object) -> bytes:
    """One message of application/vnd.amazon.eventstream: lengths and their checksum, headers,
    payload, and a checksum of all of it."""
    body = json.dumps(payload).encode()
    named = b"".join(
        struct.pack("!B", len(name)) + name.encode() + struct.pack("!BH", _TEXT, len(value)) + value
        for name, value in ((name, value.encode()) for name, value in headers.items())
    )
    prelude = struct.pack("!II", 16 + len(named) + len(body), len(named))
    whole = prelude + struct.pack("!I", crc32(prelude)) + named + body
    return whole + struct.pack("!I", crc32(whole))


def event(kind: str, payload: object) -> bytes:
    told = {":event-type": kind, ":content-type": "application/json", ":message-type": "event"}
    return frame(told, payload)


def failure(kind: str, message: str) -> bytes:
    told = {":exception-type": kind, ":content-type": "application/json"}
    return frame({**told, ":message-type": "exception"}, {"message": message})


def piece(text: str) -> bytes:
    return event("contentBlockDelta", {"delta": {"text": text}, "contentBlockIndex": 0})


START = event("messageStart", {"role": "assistant"})
STOP = event("messageStop", {"stopReason": "end_turn"})
COUNTED = event(
    "metadata",
    {
        "usage": {"inputTokens": 50, "outputTokens": 7, "totalTokens": 57},
        "metrics": {"latencyMs": 1},
    },
)


def frames(*sent: bytes, then: Literal["", "hang", "reset"] = "") -> Reply:
    """An event stream, each message a piece of the transfer, as Amazon sends it."""
    kind = {"Content-Type": "application/vnd.amazon.eventstream", "Transfer-Encoding": "chunked"}
    pieces = [b"%x\r\n%b\r\n" % (len(one), one) for one in sent]
    return Reply(b"".join(pieces) + (b"" if then else b"0\r\n\r\n"), headers=kind, then=then)


def written(text: str, size: int = 7) -> Reply:
    pieces = [piece(text[at : at + size]) for at in range(0, len(text), size)]
    return frames(START, *pieces, STOP, COUNTED)


def whole(*texts: str) -> Reply:
    """What Converse answers in one piece."""
    message = {"role": "assistant", "content": [{"text": text} for text in texts]}
    return Reply(
        {
            "output": {"message": message},
            "stopReason": "end_turn",
            "usage": {"inputTokens": 50, "outputTokens": 7, "totalTokens": 57},
            "metrics": {"latencyMs": 1},
        }
    )


def asked_for(seen: Seen) -> tuple[str, str]:
    """The model and the operation that a path names."""
    _, _, model, operation = seen.path.split("/")
    return model.replace("%3A", ":"), operation
