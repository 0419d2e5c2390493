"""Arithmetic for a language model that must not do it in its head: plus, minus, times, divided by,
powers, and a few functions. Pure; nothing else is evaluated.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Sequence
from math import isfinite

from trivium.core.errors import BadValue
from trivium.text.lexicon.quantities import quantities

LONGEST = 200  # characters
MOST_POWER = 64
# Whole numbers up to this need no source if another number has one: months, percent, counts.
SMALL = 100
_REFUSED = (
    SyntaxError,
    ArithmeticError,
    RecursionError,
    ValueError,
    IndexError,
    TypeError,
    MemoryError,
)
OPERATORS: dict[type[ast.operator], Callable[[float, float], float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
}
_NAMED: dict[str, Callable[[Sequence[float]], float]] = {
    "sum": sum,
    "min": min,
    "max": max,
    "abs": lambda numbers: abs(numbers[0]),
    "round": lambda numbers: round(numbers[0], int(numbers[1]) if len(numbers) > 1 else 0),
    "average": lambda numbers: sum(numbers) / len(numbers),
}


def calculate(expression: str) -> float:
    """Raises BadValue if it isn't arithmetic or has no result."""
    if len(expression) > LONGEST:
        raise BadValue(f"The expression is longer than {LONGEST} characters.")
    try:
        value = _value(ast.parse(expression.strip(), mode="eval").body)
    except _REFUSED as reason:
        raise BadValue(f"Couldn't calculate `{expression}` ({reason}).") from reason
    if isinstance(value, complex) or not isfinite(value):
        raise BadValue(f"`{expression}` has no result.")
    return value


def _value(node: ast.expr) -> float:
    match node:
        case ast.Constant(value=bool()):
            raise ValueError("true and false aren't numbers")
        case ast.Constant(value=int() | float() as number):
            return float(number)
        case ast.UnaryOp(op=ast.USub(), operand=inner):
            return -_value(inner)
        case ast.UnaryOp(op=ast.UAdd(), operand=inner):
            return _value(inner)
        case ast.BinOp(left=left, op=op, right=right) if type(op) in OPERATORS:
            a, b = _value(left), _value(right)
            if isinstance(op, ast.Pow) and abs(b) > MOST_POWER:
                raise ValueError("the power is too large")
            return OPERATORS[type(op)](a, b)
        case ast.Call(func=ast.Name(id=name), args=args, keywords=[]) if name in _NAMED and args:
            return _NAMED[name]([_value(arg) for arg in args])
    raise ValueError("only numbers, + - * / % ** and sum, min, max, average, round, abs")


def told(value: float) -> str:
    return f"{value:,.6f}".rstrip("0").rstrip(".")


def unsourced(expression: str, texts: Sequence[str]) -> list[str]:
    """The numbers of an expression that are in none of the texts; small ones count only if no other
    number is."""
    in_texts = [quantity for text in texts for quantity in quantities(text)]
    sourced = {
        quantity: any(map(quantity.agrees, in_texts)) for quantity in quantities(expression, "en")
    }
    small = {
        quantity for quantity in sourced if quantity.value.is_integer() and quantity.value <= SMALL
    }
    strange = [quantity for quantity, is_known in sourced.items() if not is_known]
    if len(strange) < len(sourced):
        strange = [quantity for quantity in strange if quantity not in small]
    return list(dict.fromkeys(quantity.text for quantity in strange))
