from trivium.text.keywords import plan_keywords
from trivium.text.query import parse
from trivium.text.spelling import PlannedWord, plan_spellings
from trivium.text.stems import content_words, stem, stems, stop_words
from trivium.text.trigrams import Vocabulary


def test_stems_follow_the_language() -> None:
    assert stems("running swords", "en") == ["run", "sword"]
    assert stems("Häuser", "de") == ["haus"]
    assert stem(["xyz"], "zz") == ["xyz"], "a language without a stemmer"
    assert stems("running", "") == ["run"], "unknown counts as English"


def test_function_words_go_unless_nothing_else_is_there() -> None:
    assert content_words(["what", "is", "the", "crown"], ["en"]) == ["crown"]
    assert content_words(["to", "be", "or", "not", "to", "be"], ["en"]) == [
        "to", "be", "or", "not", "to", "be",
    ]  # fmt: skip
    assert "und" in stop_words("de")
    assert stop_words("zz") == frozenset()


def test_keyword_plans_have_a_run_for_each_language() -> None:
    plan = plan_keywords(parse("running"), ["de", "en"])
    assert [clause.runs for clause in plan.clauses] == [(("running",), ("run",))]
    assert not plan.clauses[0].required


def test_phrases_are_required_and_keep_function_words() -> None:
    plan = plan_keywords(parse('"king of the hill" crown crown'), ["en"])
    assert [clause.required for clause in plan.clauses] == [True, False]
    assert plan.clauses[0].runs == (("king", "of", "the", "hill"),)


def test_spelling_plans_weigh_by_the_likeliest_spelling() -> None:
    vocabulary = Vocabulary()
    vocabulary.add(["short", "shortsword", "sword", "crown"])
    rarity = {("crown",): 3.0, ("shortsword",): 2.0, ("short",): 1.0, ("sword",): 1.5}
    plan = plan_spellings(["short", "sword", "crwn"], vocabulary, ["en"], lambda w: rarity[w])
    by_word = {planned.word: planned for planned in plan}
    assert by_word["crwn"].weight == 3.0
    assert max(s.factor for s in by_word["crwn"].spellings) < 1
    spelled = {s.words: s.factor for s in by_word["short"].spellings}
    assert spelled["short",] == spelled["shortsword",] == 1.0, "joined neighbours count in full"
    assert [p.weight for p in plan] == sorted((p.weight for p in plan), reverse=True)


def test_a_plan_that_was_made_before_is_taken_again_unless_a_neighbour_joins_the_word() -> None:
    vocabulary, plans = Vocabulary(), dict[str, PlannedWord]()
    vocabulary.add(["short", "sword", "shortsword", "crown"])
    apart = plan_spellings(["crown", "sword"], vocabulary, ["en"], lambda _: 2.0, plans=plans)
    again = plan_spellings(["sword", "crown"], vocabulary, ["en"], lambda _: 2.0, plans=plans)
    assert {id(one) for one in apart} == {id(one) for one in again}
    joined = plan_spellings(["short", "sword"], vocabulary, ["en"], lambda _: 2.0, plans=plans)
    assert all(("shortsword",) in [s.words for s in one.spellings] for one in joined)
    assert plans.keys() == {"crown", "sword"}
