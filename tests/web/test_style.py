"""The stylesheet: a slip in it would spoil every screen."""

from trivium.web.assets import assets


def test_every_rule_is_closed() -> None:
    """A query that a merge left open once took every rule after it along, unseen by other tests."""
    style = assets()["style.css"].decode()
    depth = 0
    for number, line in enumerate(style.splitlines(), start=1):
        assert depth == 0 or not line.startswith("/* ---"), f"a section within a rule: {number}"
        depth += line.count("{") - line.count("}")
        assert depth >= 0, number
    assert depth == 0
