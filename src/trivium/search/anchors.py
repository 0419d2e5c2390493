"""Places a model whose cosines nobody measured on the scale of the built-in one, by two anchors:
the cosine of a question and the passage that answers it, and of a question and any other passage,
on average over a few texts of our own. Asks the model; knows no store.

bge-small's line, measured on eleven sets, is 1.84 c - .806; its anchors say 1.68 c - .627, which is
.06 too high at its best hits.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from trivium.search.scale import Scale

if TYPE_CHECKING:
    from trivium.core.types import Vector, Vectors

# Of the built-in model (all-MiniLM-L6-v2, 8 bits), over these texts.
_ANSWERED, _OTHER = 0.4385, 0.0169
_APART = 0.03  # anchors nearer to each other say nothing
FLATTEST, STEEPEST = 0.3, 8.0  # slopes of models; beyond, something else is wrong

PAIRS = (
    (
        "how do bees keep the hive warm in winter",
        "When it gets cold, honey bees gather in a ball around the queen and shiver their flight"
        " muscles. Those outside change places with those inside, so that no bee freezes.",
    ),
    (
        "who has to pay for repairs of a rented flat",
        "The landlord keeps the building and its fittings in working order. Small repairs may be"
        " passed on to the tenant if the contract says so and names an upper limit.",
    ),
    (
        "effect of sleep on memory",
        "Participants who slept after learning lists of words recalled more of them a day later"
        " than those who had stayed awake, mainly if slow waves were long.",
    ),
    (
        "reset a forgotten password",
        "Choose Sign in, then Forgot password. Enter the address of your account; a link to set a"
        " new one arrives by mail and works for an hour.",
    ),
    (
        "when was the old bridge rebuilt",
        "The stone arches fell in the flood of 1881. Three years later the town opened an iron"
        " crossing on the same piers.",
    ),
    (
        "function that sorts a list of dictionaries by a key",
        "def ordered(rows, name):\n    return sorted(rows, key=lambda row: row[name])",
    ),
    (
        "lift of a wing at high angles of attack",
        "Beyond fifteen degrees the flow separates from the upper surface, the pressure difference"
        " collapses and the aerofoil stalls.",
    ),
    (
        "vegetarian dishes for many guests",
        "A large pan of lentils with tomatoes and cumin feeds twenty people, can be cooked the day"
        " before and needs only bread and yoghurt beside it.",
    ),
    (
        "notice period of the contract",
        "Either side may end this agreement at the close of any quarter, provided that the other"
        " has been told in writing six weeks earlier.",
    ),
    (
        "vitamin D and the risk of fractures in older adults",
        "In a trial of 2,686 men and women over 65, one capsule of cholecalciferol every four"
        " months lowered the rate of broken hips and wrists by a third.",
    ),
    (
        "What did Anna say about the trip?",
        "Anna: I'd rather go by train. The ferry made me ill last time and the tickets cost about"
        " the same.",
    ),
    (
        "difference between supervised and unsupervised learning",
        "With labelled examples a model is taught to predict the label of a new one. Without"
        " labels, it can only find groups and structure in the data.",
    ),
    (
        "spells that hurt undead creatures",
        "Each zombie or skeleton within thirty feet of the priest must flee from the holy symbol;"
        " the weakest crumble to dust.",
    ),
    (
        "revenue growth last year",
        "Net sales rose by 8 percent to $4.2 billion, driven by higher prices and by demand for"
        " packaging in Latin America.",
    ),
    (
        "symptoms of a heart attack in women",
        "Tiredness, nausea and pain in the back or jaw are often its only signs, which is why"
        " female patients reach hospital later.",
    ),
    (
        "how to prune apple trees",
        "In late February, cut out branches that cross or grow inwards, and shorten last year's"
        " shoots by a third, just above a bud that faces outwards.",
    ),
    (
        "causes of the French Revolution",
        "Bad harvests, an empty treasury and a nobility that paid no taxes set the third estate"
        " against the crown in 1789.",
    ),
    (
        "minutes of the meeting about the new logo",
        "We agreed on the second draft. Lena will ask the printer for a price, and the web site"
        " changes in May.",
    ),
    (
        "do planets of other stars have water",
        "Spectra of light that passed the atmosphere of K2-18 b show the bands of steam, though"
        " methane may explain part of them.",
    ),
    (
        "sea level rise until 2100",
        "If emissions stay high, melting ice and warmer oceans are expected to lift the coasts'"
        " water by 60 to 110 centimetres by the end of the century.",
    ),
    (
        "city with the oldest underground railway",
        "London's Metropolitan line carried its first passengers in January 1863, drawn by steam"
        " through a trench under the street.",
    ),
    (
        "can I return an opened product",
        "Goods may be sent back within thirty days even if the package was opened. You pay for"
        " postage unless the item is faulty.",
    ),
    (
        "influence of social media on teenagers",
        "Girls of thirteen who spent more than three hours a day on such platforms reported twice"
        " as many depressive feelings as others.",
    ),
    (
        "error when the database connection times out",
        "sqlalchemy.exc.OperationalError: could not connect to server: no answer within 30 s. Is"
        " it running on that host and accepting TCP/IP?",
    ),
)


def anchored(
    embed_query: Callable[[str], Vector], embed_documents: Callable[[Sequence[str]], Vectors]
) -> Scale | None:
    """The model's scale; None if its two anchors are too near to each other. Raises ModelError."""
    answered, other = anchors(embed_query, embed_documents)
    if answered - other < _APART:
        return None
    slope = (_ANSWERED - _OTHER) / (answered - other)
    if not FLATTEST <= slope <= STEEPEST:
        return None
    return Scale(round(slope, 3), round(_OTHER - slope * other, 3))


def anchors(
    embed_query: Callable[[str], Vector], embed_documents: Callable[[Sequence[str]], Vectors]
) -> tuple[float, float]:
    """The mean cosine of a question with its own passage, and with others."""
    import numpy as np

    questions = np.stack([embed_query(question) for question, _ in PAIRS])
    similar = questions @ np.asarray(embed_documents([passage for _, passage in PAIRS])).T
    count = len(PAIRS)
    own = float(similar.trace()) / count
    return own, (float(similar.sum()) - own * count) / (count * (count - 1))
