from datetime import UTC, datetime, timedelta

import pytest

from trivium.core.access import LOCAL_OWNER, Right, caller_of, mint, token_id
from trivium.core.errors import BadSetting, RightMissing, TokenRefused
from trivium.core.types import OWNER, Where

NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)


def test_a_token_makes_its_holder_a_caller() -> None:
    kept, text = mint("Ann", audiences=["player"], collections=["rules"], rights=["search", "add"])
    caller = caller_of(text, kept)
    assert caller.within() == Where(frozenset({"player"}), collections=frozenset({"rules"}))
    assert caller.rights == {Right.SEARCH, Right.ADD}
    assert token_id(text) == kept.id
    assert text not in repr(kept)
    assert text.rpartition("_")[2] not in repr(kept)


def test_secrets_are_long_and_never_the_same() -> None:
    texts = {mint("", audiences=())[1] for _ in range(50)}
    assert len(texts) == 50
    assert all(len(text.split("_", 2)[2]) == 43 for text in texts), "256 bits"


@pytest.mark.parametrize("damage", ["", "trv_", "x", "Bearer ", "trv_000000000000_" + "A" * 43])
def test_other_texts_are_refused(damage: str) -> None:
    kept, _ = mint("", audiences=())
    with pytest.raises(TokenRefused):
        caller_of(damage, kept)


def test_a_secret_of_another_token_is_refused() -> None:
    kept, text = mint("", audiences=())
    _, other = mint("", audiences=None)
    forged = f"trv_{kept.id}_{other.split('_', 2)[2]}"
    with pytest.raises(TokenRefused, match="unknown or was revoked"):
        caller_of(forged, kept)
    with pytest.raises(TokenRefused, match="unknown or was revoked"):
        caller_of(text, None)


def test_a_token_expires() -> None:
    kept, text = mint("", audiences=(), expires="30d", now=NOON)
    caller_of(text, kept, NOON + timedelta(days=29))
    with pytest.raises(TokenRefused, match="expired at 2026-05-31T12:00:00Z"):
        caller_of(text, kept, NOON + timedelta(days=30))


@pytest.mark.parametrize("period", ["30", "d", "0d", "-1d", "30 days", "1y"])
def test_an_odd_period_is_named(period: str) -> None:
    with pytest.raises(BadSetting, match="expires"):
        mint("", audiences=(), expires=period)


def test_what_is_not_said_is_not_given() -> None:
    kept, text = mint("", audiences=(), collections=())
    caller = caller_of(text, kept)
    assert caller.within() == Where(frozenset(), collections=frozenset())
    with pytest.raises(RightMissing):
        caller.require(Right.ADD)


def test_the_owner_sees_all() -> None:
    assert LOCAL_OWNER.within() == OWNER
    assert LOCAL_OWNER.audience_for(None) is None
    assert LOCAL_OWNER.collection_for(None) == "default"


def test_what_a_holder_adds_stays_among_its_own() -> None:
    kept, text = mint("", audiences=["player"], collections=["rules"])
    player = caller_of(text, kept)
    assert player.audience_for(None) == "player"
    assert player.audience_for("all") == "all"
    assert player.collection_for(None) == "rules"
    with pytest.raises(RightMissing):
        player.audience_for("dm-only")
    with pytest.raises(RightMissing):
        player.collection_for("vault")


def test_a_holder_of_several_labels_says_which() -> None:
    kept, text = mint("", audiences=["player", "finance"], collections=["a", "b"])
    caller = caller_of(text, kept)
    with pytest.raises(BadSetting):
        caller.audience_for(None)
    with pytest.raises(BadSetting):
        caller.collection_for(None)
    assert caller.audience_for("finance") == "finance"
