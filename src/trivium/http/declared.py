"""Reads the declarations in `operations` from a query string. Bodies need nothing of the kind:
FastAPI reads the same dataclasses."""

from dataclasses import MISSING
from inspect import Parameter, Signature
from typing import Any, Optional

from fastapi import Depends, Query

from trivium.operations.declaring import BOUNDS, kinds_of, options_of


def in_query(kind: type) -> Any:
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

    async def read(**given: Any) -> Any:
        return kind(**given)

    read.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
    return Depends(read)
