"""How a route is declared: a function that takes what it needs and returns a shape.

Its types say the rest: the schema of its answer, the parameters of its query string, and the
problems that it may answer with.
"""

from collections.abc import Callable, Mapping
from dataclasses import MISSING, is_dataclass
from functools import wraps
from inspect import Parameter, Signature, signature
from typing import Annotated, Any, Optional

from fastapi import APIRouter, Depends, FastAPI, Query
from fastapi.routing import APIRoute
from fastapi.utils import create_model_field

from trivium.core.types import Told
from trivium.http.answers import Answered
from trivium.http.problems import responses
from trivium.operations.declaring import BOUNDS, kinds_of, options_of


class Routes(APIRouter):
    """A declared operation that a function calls `body` is that of a request, any other is read
    from its query string."""

    def add_api_route(self, path: str, endpoint: Callable[..., Any], **options: Any) -> None:
        shape = signature(endpoint, eval_str=True)
        statuses = [404] if "{" in path else []
        statuses += (408, 413) if "body" in shape.parameters else ()
        options["responses"] = responses(*statuses) | (options["responses"] or {})
        if issubclass(shape.return_annotation, Told):
            options["response_model"] = shape.return_annotation
            endpoint = _answering(endpoint, options["status_code"] or 200)
        options["operation_id"] = endpoint.__name__
        options["route_class_override"] = Described
        parameters = [
            parameter.replace(
                annotation=Annotated[parameter.annotation, in_query(parameter.annotation)]
            )
            if is_dataclass(parameter.annotation) and name != "body"
            else parameter
            for name, parameter in shape.parameters.items()
        ]
        endpoint.__signature__ = shape.replace(parameters=parameters)  # type: ignore[attr-defined]
        super().add_api_route(path, endpoint, **options)


def attach(app: FastAPI, router: APIRouter) -> None:
    """Serve a router's routes. `include_router` would prepare each of them a second time at the
    first request, a fifth of a server's start, to add what we add to none."""
    app.router.routes.extend(router.routes)


class Described(APIRoute):
    """Prepares the schemas of its answers when somebody asks for the description of the API.
    Answers are sent as they are, so no request needs them, and all took a tenth of a start."""

    def __init__(
        self,
        path: str,
        endpoint: Callable[..., Any],
        *,
        response_model: Any,
        responses: Mapping[int | str, Mapping[str, Any]],
        **options: Any,
    ) -> None:
        plain = {status: dict(response) for status, response in responses.items()}
        self._others = {s: plain[s].pop("model") for s in responses if "model" in plain[s]}
        super().__init__(path, endpoint, response_model=None, responses=plain, **options)
        self.response_model = response_model

    def describe(self) -> None:
        if isinstance(self.response_model, type):
            self.response_field = self._field("", self.response_model)
        for status, shape in self._others.items():
            self.response_fields[status] = self._field(f"{status}_", shape)

    def _field(self, which: str, shape: type) -> Any:
        name = f"Response_{which}{self.unique_id}"
        return create_model_field(name, shape, mode="serialization")


def _answering(endpoint: Callable[..., Any], status: int) -> Callable[..., Any]:
    @wraps(endpoint)
    async def answer(*args: Any, **named: Any) -> Answered:
        return Answered(await endpoint(*args, **named), status)

    return answer


def in_query(kind: Any) -> Any:
    """In `Annotated[...]`: each option is a parameter of the query string."""
    kinds = kinds_of(kind)
    parameters = []
    for field in options_of(kind):
        described = {name: field.metadata[name] for name in BOUNDS if name in field.metadata}
        hint = kinds[field.name]
        if field.default is None:
            hint = Optional[hint]  # noqa: UP045 (the type is only known here)
        default = Query(... if field.default is MISSING else field.default, **described)
        parameters.append(
            Parameter(field.name, Parameter.KEYWORD_ONLY, default=default, annotation=hint)
        )

    async def read(**values: Any) -> Any:
        return kind(**values)

    read.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
    return Depends(read)
