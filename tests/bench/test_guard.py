"""Only a figure that is worse than stored by more than its limit is a regression."""

from bench.counting import bytecodes
from bench.guard import COUNT_LIMIT, RATIO_LIMIT, moves, table

STORED = {"ratios": {"a / b": 1.0}, "counts": {"c": 1000.0}}


def test_within_the_limit_nothing_is_said() -> None:
    now = {"ratios": {"a / b": 1 + RATIO_LIMIT - 0.01}, "counts": {"c": 1000.0}}
    assert not any(move.regressed for move in moves(STORED, now))
    assert "REGRESSION" not in table(moves(STORED, now))


def test_each_kind_has_its_own_limit() -> None:
    more = 1 + (RATIO_LIMIT + COUNT_LIMIT) / 2
    ratio, count = moves(STORED, {"ratios": {"a / b": more}, "counts": {"c": 1000 * more}})
    assert (ratio.regressed, count.regressed) == (False, True)
    assert "REGRESSION" in table([count])


def test_less_is_better() -> None:
    [move] = moves(STORED, {"ratios": {"a / b": 0.5}})
    assert (move.regressed, move.improved) == (False, True)
    assert "better" in table([move])


def test_what_is_not_stored_is_new() -> None:
    [move] = moves({}, {"ratios": {"a / b": 9.0}})
    assert not move.regressed
    assert table([move]).endswith("new")


def test_bytecodes_repeat_and_grow_with_work() -> None:
    def work(times: int) -> None:
        for number in range(times):
            str(number)

    once = bytecodes(lambda: work(100))
    assert once == bytecodes(lambda: work(100))
    assert bytecodes(lambda: work(200)) > 1.8 * once
