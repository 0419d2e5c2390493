"""Writes Office's equations as one line of text: fractions, powers, indices, roots.

Good enough to find a formula by its symbols; knows nothing of typesetting.
"""

from __future__ import annotations

from xml.etree.ElementTree import Element

_SKIPPED = frozenset({"rPr", "ctrlPr", "fPr", "sSupPr", "sSubPr", "radPr", "dPr", "naryPr", "mPr"})


def equation(element: Element) -> str:
    """The text of an `oMath` element."""
    tag = element.tag
    if tag in _SKIPPED:
        return ""
    if tag == "t":
        return element.text or ""
    if tag == "f":
        return f"{_group(element, 'num')}/{_group(element, 'den')}"
    if tag in ("sSup", "sSub", "sSubSup"):
        under, over = _group(element, "sub"), _group(element, "sup")
        return _plain(element, "e") + (f"_{under}" if under else "") + (f"^{over}" if over else "")
    if tag == "rad":
        return f"√{_group(element, 'e') or '()'}"
    if tag == "nary":
        sign = element.find("naryPr/chr")
        under, over = _group(element, "sub"), _group(element, "sup")
        symbol = "∫" if sign is None else sign.get("val", "∫")
        bounds = (f"_{under}" if under else "") + (f"^{over}" if over else "")
        return f"{symbol}{bounds} {_plain(element, 'e')}"
    if tag == "d":
        begin, end = element.find("dPr/begChr"), element.find("dPr/endChr")
        left = "(" if begin is None else begin.get("val", "")
        right = ")" if end is None else end.get("val", "")
        return left + ", ".join(_inside(part) for part in element.findall("e")) + right
    return _inside(element)


def _inside(element: Element) -> str:
    return "".join(equation(child) for child in element)


def _plain(element: Element, name: str) -> str:
    part = element.find(name)
    return "" if part is None else _inside(part)


def _group(element: Element, name: str) -> str:
    text = _plain(element, name)
    return text if len(text) <= 1 or text.isalnum() else f"({text})"
