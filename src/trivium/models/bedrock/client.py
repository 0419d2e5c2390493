"""Asks models of Amazon Bedrock through boto3, which is imported when the first one is asked.

Region and credentials come from boto3's own chain (environment, profile, role), except a region
that the address names; nothing of them is kept or shown here. Tries again as every other client of
ours does (`retrying`), so boto3 itself shall not. Knows nothing of what is asked.
"""

from __future__ import annotations

import json
import weakref
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from threading import Lock
from typing import Any

from trivium.core.errors import (
    ModelBusy,
    ModelFailing,
    ModelRefused,
    ModelUnavailable,
    install,
)
from trivium.models.endpoint import BEDROCK, Endpoint
from trivium.models.http import MAX_BYTES, retry_after
from trivium.models.retrying import ATTEMPTS, Clock, PassingFailure, Retrying
from trivium.models.tokenising import encodable

RUNTIME, AGENTS = "bedrock-runtime", "bedrock-agent-runtime"
# What an error means that names no status, as within a stream, or a misleading one: 424 is a
# model that failed, and some of Amazon's services throttle with 400.
_STATUS = {
    "ThrottlingException": 429,
    "TooManyRequestsException": 429,
    "ModelNotReadyException": 429,
    "ServiceUnavailableException": 503,
    "ModelTimeoutException": 408,
    "InternalServerException": 500,
    "ModelErrorException": 500,
    "ModelStreamErrorException": 500,
    "ValidationException": 400,
    "AccessDeniedException": 403,
}


@dataclass(frozen=True, slots=True)
class BedrockEndpoint(Endpoint):
    """One model at Amazon's. Its address is `bedrock:` or `bedrock:REGION`, its key boto3's."""

    @property
    def region(self) -> str | None:
        return self.url.removeprefix(BEDROCK) or None

    def __str__(self) -> str:
        return f"{self.model} at Bedrock{f' ({self.region})' if self.region else ''}"

    def _connection(self) -> str:
        return f"Check the network, and that Bedrock is in the region of `{self.role}.url`."

    def unprepared(self, reason: str) -> ModelRefused:
        """boto3 has no region or credentials, or can't understand its settings."""
        return ModelRefused(
            f"Couldn't ask {self}: {self._clean(reason).rstrip('.')}.", fix=self._stranger()[1]
        )

    def _stranger(self) -> tuple[str, str]:
        return (
            "doesn't accept these credentials",
            "Give AWS credentials that may invoke it (`aws configure`, AWS_PROFILE or a role), and"
            f" a region in which it is (`{self.role}.url` = bedrock:REGION).",
        )


class BedrockClient:
    """Asks one model. Threads may share it; connections are kept open between calls."""

    def __init__(self, endpoint: BedrockEndpoint, clock: Clock = Clock()) -> None:
        self.endpoint = endpoint
        self._retrying = Retrying(endpoint.seconds, clock)
        self._lock = Lock()
        self._session: Any = None
        self._opened: dict[tuple[str, float], Any] = {}

    def invoke(
        self, body: Mapping[str, Any], *, attempts: int = ATTEMPTS, patience: float | None = None
    ) -> Any:
        """The model's answer in its own form, as parsed JSON."""
        content = encodable(json.dumps(body, ensure_ascii=False)).encode()
        request = {
            "modelId": self.endpoint.model,
            "body": content,
            "contentType": "application/json",
            "accept": "application/json",
        }

        def parsed(answer: Any) -> Any:
            data = answer["body"].read(MAX_BYTES + 1)
            if len(data) > MAX_BYTES:
                raise self.endpoint.nonsense(f"returned more than {MAX_BYTES:,} bytes")
            try:
                return json.loads(data)
            except (ValueError, RecursionError) as reason:
                raise self.endpoint.nonsense("returned something other than JSON") from reason

        return self._call("invoke_model", request, parsed, attempts, patience)

    def converse(self, request: Mapping[str, Any]) -> Any:
        return self._call("converse", {"modelId": self.endpoint.model, **request})

    def stream(self, request_fields: Mapping[str, Any]) -> Iterator[Any]:
        """A conversation's events as they come. Tries again until the first one."""
        request = {"modelId": self.endpoint.model, **request_fields}

        def begin(_left: float) -> Generator[Any, None, None]:
            seconds = self.endpoint.seconds
            with self._as_ours(seconds):
                events = self._api(RUNTIME, seconds).converse_stream(**request)["stream"]
                with closing(events):
                    yield from events

        return self._retrying.stream(begin, self.endpoint.patience)

    def rerank(self, request_fields: Mapping[str, Any], *, most: int, attempts: int) -> Any:
        """Amazon's one form for all its rerankers, which are named in full; `most` results."""
        model = {"modelConfiguration": {"modelArn": self._arn()}, "numberOfResults": most}
        settings = {"type": "BEDROCK_RERANKING_MODEL", "bedrockRerankingConfiguration": model}
        request = {**request_fields, "rerankingConfiguration": settings}
        return self._call("rerank", request, attempts=attempts, service=AGENTS)

    def _call(
        self,
        operation: str,
        request: Mapping[str, Any],
        parsed: Callable[[Any], Any] = lambda answer: answer,
        attempts: int = ATTEMPTS,
        patience: float | None = None,
        service: str = RUNTIME,
    ) -> Any:
        patience = self.endpoint.patience if patience is None else patience
        # boto3's limit of time belongs to a client, not to a call, so a second attempt has as
        # much as the first: all of them take `patience` and one attempt at most.
        limit = min(self.endpoint.seconds, patience)

        def attempt(_left: float) -> Any:
            with self._as_ours(limit):
                return parsed(getattr(self._api(service, limit), operation)(**request))

        return self._retrying.persist(attempt, attempts, patience)

    def _arn(self) -> str:
        model = self.endpoint.model
        if model.startswith("arn:"):
            return model
        with self._as_ours(self.endpoint.seconds):
            session = self._aws()
            region = session.region_name
            if not region:
                raise self.endpoint.unprepared("no region is named")
            partition = session.get_partition_for_region(region)
        return f"arn:{partition}:bedrock:{region}::foundation-model/{model}"

    def _aws(self) -> Any:
        """boto3's session, which finds region and credentials."""
        try:
            import boto3
        except ModuleNotFoundError as reason:
            raise ModelUnavailable(
                f"{self.endpoint} needs the package {reason.name}, which isn't installed.",
                fix=install("bedrock"),
                on_page="Ask the person who runs this server to install it.",
            ) from reason
        with self._lock:
            self._session = self._session or boto3.Session(region_name=self.endpoint.region)
            return self._session

    def _api(self, service: str, seconds: float) -> Any:
        """boto3's client of a service with this limit of time; one is made once."""
        session = self._aws()
        from botocore.config import Config

        with self._lock:
            if (service, seconds) not in self._opened:
                limits = Config(
                    connect_timeout=seconds, read_timeout=seconds, retries={"total_max_attempts": 1}
                )
                opened = session.client(service, config=limits)
                weakref.finalize(self, opened.close)
                self._opened[service, seconds] = opened
            return self._opened[service, seconds]

    @contextmanager
    def _as_ours(self, seconds: float) -> Iterator[None]:
        """Every error of the library that asks becomes one of ours here."""
        try:
            yield
        except Exception as reason:
            error = self._error(reason, seconds)
            if error is None:  # it is ours already, or a fault of ours
                raise
            raise error from reason

    def _error(self, reason: Exception, seconds: float) -> Exception | None:
        try:
            from botocore import eventstream, parsers
            from botocore import exceptions as aws
            from urllib3 import exceptions as lower  # which come through in the middle of a stream
        except ModuleNotFoundError:
            return None
        match reason:
            case aws.ClientError():
                return self._refused(reason.response)
            case aws.ConnectTimeoutError() | aws.ReadTimeoutError() | lower.TimeoutError():
                return PassingFailure(self.endpoint.late(seconds))
            case aws.HTTPClientError() | aws.ConnectionError() | aws.IncompleteReadError():
                return PassingFailure(self.endpoint.unreachable(str(reason)))
            case lower.HTTPError():
                return PassingFailure(self.endpoint.unreachable(str(reason)))
            case aws.BotoCoreError():
                return self.endpoint.unprepared(str(reason))
            case eventstream.ParserError() | parsers.ResponseParserError():
                return self.endpoint.nonsense("returned an unreadable answer")
        return None

    def _refused(self, response: Mapping[str, Any]) -> Exception:
        fault, about = response.get("Error", {}), response.get("ResponseMetadata", {})
        code = str(fault.get("Code", ""))
        code = code[:1].upper() + code[1:]  # within a stream they begin with a small letter
        status = _STATUS.get(code, about.get("HTTPStatusCode", 400))
        body = json.dumps({"message": f"{code}: {fault.get('Message', '')}"})
        error = self.endpoint.refusal(status, body.encode())
        if isinstance(error, ModelBusy | ModelFailing):
            after = about.get("HTTPHeaders", {}).get("retry-after", "")
            return PassingFailure(error, retry_after(after))
        return error
