"""The options and filters of a search under the names that Python code imports; `operations`
declares them."""

from trivium.operations.searching import Filters, OneOrMore, SearchOptions, When

__all__ = ["Filters", "OneOrMore", "SearchOptions", "When"]
