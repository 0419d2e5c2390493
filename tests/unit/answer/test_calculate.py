import pytest

from trivium.answer.calculate import calculate, told, unsourced
from trivium.core.errors import BadValue


def test_arithmetic() -> None:
    assert told(calculate("(47.5 - 44.8) / 44.8 * 100")) == "6.026786"
    assert told(calculate("sum(1, 2, 3) + max(4, 5) - abs(-2)")) == "9"
    assert told(calculate("average(10, 20) ** 2")) == "225"
    assert told(calculate("round(1234567.891, 1)")) == "1,234,567.9"


@pytest.mark.parametrize(
    "expression",
    [
        "", "1 +", "1 / 0", "9 ** 9 ** 9", "x + 1", "__import__('os')", "open('/etc/passwd')",
        "'a' * 9", "[1] * 9", "True + 1", "1e308 * 10", "(-1) ** 0.5", "1" * 201, "sum()",
        "round(1, 2, x=3)", "(" * 150 + "1",
        "().__class__", "1 if 1 else 2", "abs", "lambda: 1",
    ],
)  # fmt: skip
def test_nothing_else_is_evaluated(expression: str) -> None:
    with pytest.raises(BadValue):
        calculate(expression)


def test_numbers_that_no_passage_holds_are_named() -> None:
    assert unsourced("1,200 / 4 + 7.5", ["There are 1 200 lamps."]) == ["7.5"]


def test_a_number_that_was_read_is_a_quantity_not_its_digits() -> None:
    read = ["Sales rose by 3.5 % to 1.75 million, from 1,690,000."]
    assert unsourced("1.75 - 1.69", read) == ["1.69"]
    assert unsourced("1750000 - 1690000", read) == []
    assert unsourced("1000 * 0.035", [*read, "1,000"]) == []
    assert unsourced("175 * 1690000", read) == ["175"]
