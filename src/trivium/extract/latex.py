"""Turns the LaTeX of bibliographies into readable characters: accents, dashes, simple formulas.

Knows nothing of fields or files.
"""

from __future__ import annotations

import re
import unicodedata

_ACCENTS = {
    "`": "\u0300", "'": "\u0301", "^": "\u0302", "~": "\u0303", "=": "\u0304", "u": "\u0306",
    ".": "\u0307", '"': "\u0308", "r": "\u030a", "H": "\u030b", "v": "\u030c", "d": "\u0323",
    "c": "\u0327", "k": "\u0328", "b": "\u0331",
}  # fmt: skip
_SIGNS = {
    "ss": "ß", "o": "ø", "O": "Ø", "l": "ł", "L": "Ł", "ae": "æ", "AE": "Æ", "oe": "œ", "OE": "Œ",
    "aa": "å", "AA": "Å", "i": "i", "j": "j", "dh": "ð", "DH": "Ð", "th": "þ", "TH": "Þ",
    "textendash": "–", "textemdash": "—", "textquoteright": "’", "textquoteleft": "‘",
    "textquotedblleft": "“", "textquotedblright": "”", "textpm": "±", "pm": "±", "times": "×",
    "cdot": "·", "ldots": "…", "dots": "…", "textdegree": "°", "degree": "°", "circ": "°",
    "textregistered": "®", "texttrademark": "™", "textcopyright": "©", "textasciitilde": "~",
    "textbackslash": "\\", "S": "§", "P": "¶", "pounds": "£", "euro": "€", "infty": "∞",
    "rightarrow": "→", "to": "→", "leftarrow": "←", "leq": "≤", "le": "≤", "geq": "≥", "ge": "≥",
    "approx": "≈", "sim": "∼", "neq": "≠", "partial": "∂", "nabla": "∇", "sum": "∑", "int": "∫",
    "alpha": "α", "beta": "β", "gamma": "γ", "delta": "δ", "epsilon": "ε", "varepsilon": "ε",
    "zeta": "ζ", "eta": "η", "theta": "θ", "iota": "ι", "kappa": "κ", "lambda": "λ", "mu": "μ",
    "nu": "ν", "xi": "ξ", "pi": "π", "rho": "ρ", "sigma": "σ", "tau": "τ", "upsilon": "υ",
    "phi": "φ", "varphi": "φ", "chi": "χ", "psi": "ψ", "omega": "ω", "Gamma": "Γ", "Delta": "Δ",
    "Theta": "Θ", "Lambda": "Λ", "Xi": "Ξ", "Pi": "Π", "Sigma": "Σ", "Phi": "Φ", "Psi": "Ψ",
    "Omega": "Ω", "in": "∈", "notin": "∉", "subset": "⊂", "subseteq": "⊆", "cup": "∪", "cap": "∩",
    "wedge": "∧", "vee": "∨", "neg": "¬", "forall": "∀", "exists": "∃", "Rightarrow": "⇒",
    "Leftarrow": "⇐", "leftrightarrow": "↔", "Leftrightarrow": "⇔", "mapsto": "↦", "equiv": "≡",
    "propto": "∝", "prod": "∏", "cdots": "⋯", "vdots": "⋮", "langle": "⟨", "rangle": "⟩", "ll": "≪",
    "gg": "≫", "mp": "∓", "oplus": "⊕", "otimes": "⊗", "emptyset": "∅", "setminus": "∖",
    "star": "⋆", "ell": "ℓ", "hbar": "ℏ", "perp": "⊥", "mid": "|", "Vert": "‖", "geqslant": "≥",
    "leqslant": "≤",
    "iff": "⇔", "implies": "⇒", "sqrt": "√", "LaTeX": "LaTeX", "TeX": "TeX", "textasciicircum": "^",
    "textbar": "|", "textless": "<", "textgreater": ">", "textunderscore": "_", "lim": "lim",
    "log": "log", "ln": "ln", "exp": "exp", "sin": "sin", "cos": "cos", "tan": "tan", "max": "max",
    "min": "min", "sup": "sup", "inf": "inf", "arg": "arg", "det": "det", "dim": "dim", "Pr": "Pr",
    "quad": " ", "qquad": " ", "space": " ", "newline": " ", "par": "\n",
}  # fmt: skip
_OVER = str.maketrans("0123456789+-=()n", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁼⁽⁾ⁿ")
_UNDER = str.maketrans("0123456789+-=()", "₀₁₂₃₄₅₆₇₈₉₊₋₌₍₎")

_ACCENT = re.compile(
    r"""\\([`'^~=."])\s*(?:\{\s*\\?([A-Za-z])\s*\}|\\?([A-Za-z]))"""
    r"""|\\([uvHdckbr])(?:\s*\{\s*\\?([A-Za-z])\s*\}|\s+\\?([A-Za-z]))"""
)
_FRACTION = re.compile(r"\\[dtc]?frac\s*\{([^{}]*)\}\s*\{([^{}]*)\}")
_SCRIPT = re.compile(r"([\^_])(?:\{([^{}]{1,20})\}|(\w))")
_COMMAND = re.compile(r"\\([A-Za-z]+)\*?(?:\{\}|\s+(?=[^\s{])|)")
_ESCAPE = re.compile(r"\\([&%$#_{}\-/ ,;:!@])")
_MATH = re.compile(r"\$([^$]*)\$")


def readable(latex: str) -> str:
    """The text as it would be printed, as far as characters go."""
    text = _ACCENT.sub(_accented, latex)
    text = _MATH.sub(lambda math: _formula(math[1]), text)
    text = _COMMAND.sub(lambda command: _SIGNS.get(command[1], ""), text)
    text = _ESCAPE.sub(lambda sign: {"-": "", "/": "", "!": ""}.get(sign[1], _plain(sign[1])), text)
    text = text.replace("---", "—").replace("--", "–").replace("``", "“").replace("''", "”")
    text = text.replace("~", "\xa0").replace("{", "").replace("}", "").replace("\\", "")
    return " ".join(text.split())


def _accented(accent: re.Match[str]) -> str:
    mark = accent[1] or accent[4]
    letter = next(group for group in (accent[2], accent[3], accent[5], accent[6]) if group)
    return unicodedata.normalize("NFC", letter + _ACCENTS[mark])


def _formula(math: str) -> str:
    def script(match: re.Match[str]) -> str:
        inside = match[2] or match[3]
        small = inside.translate(_OVER if match[1] == "^" else _UNDER)
        return small if small != inside or not inside.isdigit() else inside

    fractions = _FRACTION.sub(lambda parts: f"{_term(parts[1])}/{_term(parts[2])}", math)
    signs = _COMMAND.sub(lambda command: _SIGNS.get(command[1], ""), fractions)
    return _SCRIPT.sub(script, signs)


def _term(words: str) -> str:
    """A part of a fraction, in brackets if it is a sum."""
    return f"({words.strip()})" if re.search(r"\w\s*[-+]\s*\\?\w", words) else words.strip()


def _plain(sign: str) -> str:
    return " " if sign in " ,;:" else sign
