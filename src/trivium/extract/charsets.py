"""Detects the encoding of a text.

UTF-8 and ASCII, nearly all files, are decided at once. For the rest charset-normalizer proposes
encodings and an order; this file decides which of them gives a text in a language, because for a
line or two its own order is right only three times in four. Knows nothing of formats.
"""

from __future__ import annotations

import math
import re
import unicodedata
from functools import cache

from trivium.text.languages import language_scores

# Scripts of their own: the order is the frequency in running text.
OWN_SCRIPT = {
    "ru": "оеаинтсрвлкмдпуяыьгзбчйхжшюцщэфъё",
    "uk": "оаинвеітрслкдмупзяьгбчхйїшєжюцщфґ",
    "bg": "аеоитнрсвлдкпмзугябъчжцщхшфюйь",
    "sr": "аоиенртсвјукдпмлзбгчшцжћљхњђфџ",
    "el": "αοιετσνηυρπκμλςωγδχθφβξζψάίόέήύώϊϋΐΰ",
    "he": "יוהלאתרבמנשםעדקפחגצכטזסןךףץ",
    "ar": "اليمنوترةبعدفسكقحهأجشطصخإذزثىضغئءظؤآ",
    "fa": "اینردتهموبسشلکزگعفحخجقپآصغطذچثظضژئء",
    "th": "านรอก่เงิ้มยัลวดีสตทะ์ปบุคจหพไชูืขใำ็แโธถผภซณศญฟษฉฐฎฏฆฒฮฬฤๆึฯ",
}
# Letters beside those of ASCII: which there are says more than how often.
LATIN = {
    "en": "éïöçñèêà",
    "de": "üäößéà",
    "fr": "éàèêçôùîâûïëœ",
    "es": "óáíéúñü",
    "pt": "ãçáéíóõêúâàô",
    "it": "èàùòéì",
    "nl": "ëéïèüö",
    "sv": "äåöé",
    "da": "æøåé",
    "no": "åøæé",
    "fi": "äöå",
    "is": "ðíáöéþúæóý",
    "ca": "óàèéíòçúüï",
    "pl": "ąęłóżśćńź",
    "cs": "íáéěřýčůžšúóňťď",
    "sk": "áíéýčžúšľóťôňďäŕĺ",
    "hu": "áéöőóíüúű",
    "sl": "čšž",
    "hr": "čšžćđ",
    "ro": "ăâîşţ",
    "tr": "ıüşğçöâ",
    "lt": "ėšųįžčūąę",
    "lv": "āīēšņūļžģčķ",
    "et": "äõöüšž",
    "vi": "àáảãạăằắẳẵặâầấẩẫậèéẻẽẹêềếểễệìíỉĩịòóỏõọôồốổỗộơờớởỡợùúủũụưừứửữựỳýỷỹỵđ",
}
# The characters of most East Asian text; of a running one they make up half or more.
COMMON = {
    "zh": "的一是不了在人有我他这个们中来上大为和国地到以说时要就出会可也你对生能而子那得于着下自之"
    "年过发后作里用道行所然家种事成方多经么去法学如都同现当没动面起看定天分还进好小部其些主样理心"
    "她本前开但因只从想实日军者意无力它与长把机十民第公此已工使情明性知全三又关点正业外将两高间由"
    "问很最重并物手应战向头文体政美相见被利什二等产或新己制身果加西斯月话合回特代内信表化老给世位"
    "次度门任常先海通教儿原东声提立及比员解水名真论处走义各入几口认条平系气题活尔更别打女变四神总"
    "何电数安少报才结反受目太量再感建务做接必场件计管期市直德资命山金指克许统区保至队形社便空决治"
    "展马科司五基眼书非则听白却界达光放强即像难且权思王象完设式色路记南品住告类求据程北边死张该交"
    "规万取拉格望觉术领共确传师观清今切院让识候带导争运",
    "zh-Hant": "的一是不了在人有我他這個們中來上大為和國地到以說時要就出會可也你對生能而子那得於著"
    "下自之年過發後作裡用道行所然家種事成方多經麼去法學如都同現當沒動面起看定天分還進好小部其些主樣"
    "理心她本前開但因只從想實日軍者意無力它與長把機十民第公此已工使情明性知全三又關點正業外將兩高"
    "間由問很最重並物手應戰向頭文體政美相見被利什二等產或新己制身果加西斯月話合回特代內信表化老給"
    "世位次度門任常先海通教兒原東聲提立及比員解水名真論處走義各入幾口認條平系氣題活爾更別打女變四"
    "神總何電數安少報才結反受目太量再感建務做接必場件計管期市直德資命山金指克許統區保至隊形社便空"
    "決治展馬科司五基眼書非則聽白卻界達光放強即像難且權思王象完設式色路記南品住告類求據程北邊死張"
    "該交規萬取拉格望覺術領共確傳師觀清今切院讓識候帶導爭運",
    "ja": "日一国人年大十二本中長出三時行見月後前生五間上東四今金九入学高円子外八六下来気小七山話女"
    "北午百書先名川千水半男西電校語土木聞食車何南万毎白天母火右読友左休父雨同事自社発者地業方新場"
    "員立開手力問代明動京目通言理体田主題意不作用度強公持野以思家世多正安院心界教文元重近考画海売"
    "知道集別物使品計死特私始朝運終台広住真有口少町料工建空急止送切転研足究楽起着店病質待試族銀早"
    "映親験英医仕去味写字答夜音注帰古歌買悪図週室歩風紙黒花春赤青館屋色走秋夏習駅洋旅服夕借曜飲肉"
    "貸堂鳥飯勉冬昼茶弟牛魚兄犬妹姉漢" + "".join(map(chr, range(0x3041, 0x30FF))),
    "ko": "이다는의에을가고하지한은도로기를서사시자아들그인대어나리있과일라수니만게부해보전정구성제"
    "주상여국오으장모원거와스조연동중화관무공경선문비마생당우면발안신소위용내실재회치계물개운",
}


SAMPLE_BYTES = 8192
# A file with a few broken bytes among this many times more good sequences is still UTF-8.
_UTF8_GOOD_PER_BAD = 10

_WEST = ("en", "de", "fr", "es", "pt", "it", "nl", "sv", "da", "no", "fi", "is", "ca")
_CENTRAL = ("pl", "cs", "sk", "hu", "sl", "hr", "ro")
_CYRILLIC = ("ru", "uk", "bg", "sr")
# Which languages are written by a table, and what it must be better by than Windows' own: DOS and
# old Apple tables are rare, and nothing is lost where ISO's agrees with Windows'.
_TABLES: dict[str, tuple[tuple[str, ...], float]] = {
    "cp1252": (_WEST, 0.0),
    "cp1250": (_CENTRAL, 0.0),
    "cp1251": (_CYRILLIC, 0.0),
    "cp1253": (("el",), 0.0),
    "cp1254": (("tr",), 0.0),
    "cp1255": (("he",), 0.0),
    "cp1256": (("ar", "fa"), 0.0),
    "cp1257": (("lt", "lv", "et"), 0.0),
    "cp1258": (("vi",), 0.0),
    "cp874": (("th",), 0.0),
    "cp932": (("ja",), 0.0),
    "euc_jp": (("ja",), 0.0),
    "gb18030": (("zh",), 0.0),
    "big5hkscs": (("zh-Hant",), 0.0),
    "cp949": (("ko",), 0.0),
    "koi8_r": (("ru",), 0.0),
    "koi8_u": (("uk",), 0.05),
    "iso8859_2": (_CENTRAL, 0.05),
    "iso8859_5": (_CYRILLIC, 0.05),
    "iso8859_7": (("el",), 0.05),
    "cp866": (("ru",), 0.25),
    "cp850": (_WEST, 0.25),
    "mac_roman": (_WEST, 0.25),
}
# How odd a decoded text may look to charset-normalizer and still be proposed. Of 664 texts in 24
# languages and 23 tables the right one was among 4.5 proposals for all but 4 at .2 (its default),
# among 6.6 for all but 1 at .4.
_PROPOSED = 0.4
# Of 1,560 texts in UTF-16 the right order of bytes scored more but for 7 of a few letters, the
# wrong one 0; `abc` and `def` before zero bytes, as programs have them, score less.
_READABLE = 0.4
_DOUBT = 0.6  # what a table other than the usual must be better by, of one letter; less of more
# Two tables that fit alike differ by less; its order then decides.
_ORDER = 0.02
_NEUTRAL = frozenset(
    "«»„“”‘’‚–—…€°§©®™·•¿¡ªº\xa0\u3000、。，；：？！「」『』（）《》・ー〜０１２３４５６７８９"
)
_LATIN_END = 0x36F  # behind Latin letters and their accents
_ODD = frozenset({"Cc", "Cn", "Co", "Cs"})
_WHITE = frozenset("\t\n\r\f\v")
_CONTROLS = bytes(code for code in range(32) if code not in b"\t\n\r\f\v\x1b")
# What browsers read instead of the table that a page or message names: the wider one of its family.
_WIDER = {
    "ascii": "cp1252", "us-ascii": "cp1252", "iso-8859-1": "cp1252", "latin1": "cp1252",
    "iso-8859-9": "cp1254", "iso-8859-11": "cp874", "tis-620": "cp874", "gb2312": "gb18030",
    "gbk": "gb18030", "x-gbk": "gb18030", "big5": "big5hkscs", "shift_jis": "cp932",
    "shift-jis": "cp932", "sjis": "cp932", "x-sjis": "cp932", "euc-kr": "cp949",
    "ks_c_5601-1987": "cp949", "ksc5601": "cp949", "iso-8859-8-i": "iso-8859-8",
    "x-mac-roman": "mac_roman", "macintosh": "mac_roman",
}  # fmt: skip


def decode_text(data: bytes) -> str:
    """The characters of a text whose table nobody named."""
    text = data.decode(encoding_of(data), "replace")
    return text.replace("\x85", "\n") if _is_ebcdic(data) else text


def _is_ebcdic(data: bytes) -> bool:
    """Whether a text comes from a mainframe: its blanks are what at signs are elsewhere."""
    sample = data[:SAMPLE_BYTES]
    blanks, spaces = sample.count(b"@"), sample.count(b" ")
    return len(sample) > 40 and blanks > max(0.05 * len(sample), 10 * spaces)


def encoding_of(data: bytes) -> str:
    """The table of a text's bytes, by a name that Python knows."""
    if data.startswith((b"\xff\xfe\x00\x00", b"\x00\x00\xfe\xff")):  # before UTF-16: same beginning
        return "utf-32"
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return "utf-16"
    if wide := utf16_without_mark(data):
        return wide
    if b"\x1b$" in data and _is(data, "iso2022_jp_2"):
        return "iso2022_jp_2"
    if data.isascii() or _is_utf8(data):
        return "utf-8-sig"
    if _is_ebcdic(data):
        return "cp500"
    return _guess(_sample(data)) or ("cp1252" if _is(data, "cp1252") else "latin-1")


def named(charset: str) -> str:
    """The encoding to use if a file names one: its wider form, as in browsers."""
    name = charset.strip().strip("\"'").lower()
    return _WIDER.get(name, name)


def utf16_without_mark(data: bytes) -> str:
    """`utf-16-le` or `utf-16-be` if the bytes are such a text without its mark, else empty."""
    sample = data[: SAMPLE_BYTES - SAMPLE_BYTES % 2]
    if len(sample) < 4 or len(data) % 2 or not (_has_controls(sample) or not sample.isascii()):
        return ""
    scores = {name: _as_text(sample, name) for name in ("utf-16-le", "utf-16-be")}
    best = max(scores, key=lambda name: scores[name])
    return best if scores[best] >= _READABLE else ""


def _is(data: bytes, encoding: str) -> bool:
    try:
        data.decode(encoding)
    except UnicodeDecodeError:
        return False
    return True


def _is_utf8(data: bytes) -> bool:
    if _is(data, "utf-8"):
        return True
    text = data.decode("utf-8", "replace")
    bad = text.count("\ufffd")
    beyond_ascii = len(text) - len(text.encode("ascii", "ignore"))
    return beyond_ascii - bad >= bad * _UTF8_GOOD_PER_BAD


def _has_controls(sample: bytes) -> bool:
    return len(sample.translate(None, _CONTROLS)) < len(sample)


def _as_text(sample: bytes, encoding: str) -> float:
    """The share of letters and spaces that some language uses; 0 if it has characters that no text
    has."""
    text = sample[: len(sample) - len(sample) % 2].decode(encoding, "surrogatepass")
    if len(sample) == SAMPLE_BYTES and "\ud800" <= text[-1] <= "\udbff":
        text = text[:-1]  # half a pair at the end of the sample is no error
    if any(unicodedata.category(c) in _ODD and c not in _WHITE for c in text):
        return 0.0
    text = text[:500]
    beyond = sum(not c.isascii() for c in text)
    fit = max(_fit(text, language) for language in (*OWN_SCRIPT, *LATIN, *COMMON))
    return (len(text) - beyond + max(fit, -1.0) * beyond) / len(text)


def _sample(data: bytes) -> bytes:
    """Whole lines with bytes beyond ASCII. No such table has a newline within a character."""
    if len(data) <= SAMPLE_BYTES:
        return data
    lines: list[bytes] = []
    size = 0
    for match in re.finditer(rb"[^\n]*[\x80-\xff][^\n]*", data):
        lines.append(match[0] if len(match[0]) <= SAMPLE_BYTES else _piece(match[0]))
        size += len(lines[-1])
        if size >= SAMPLE_BYTES:
            break
    return b"\n".join(lines)


def _piece(line: bytes) -> bytes:
    """The part of an endless line around its first bytes beyond ASCII, cut at blanks or commas."""
    first = next(at for at, code in enumerate(line) if code > 127)
    start = max(line.rfind(b" ", 0, first), line.rfind(b",", 0, first), 0)
    end = max(line.find(b" ", start + SAMPLE_BYTES), line.find(b",", start + SAMPLE_BYTES))
    return line[start:end] if end > 0 else line[start:]


def _guess(sample: bytes) -> str:
    """The proposed encoding whose text fits a language best; none if none is proposed."""
    from charset_normalizer import from_bytes

    proposed = from_bytes(sample, cp_isolation=list(_TABLES), threshold=_PROPOSED)
    # Of one letter beyond ASCII nearly every table makes one that some language has.
    doubt = _DOUBT / sum(code > 127 for code in sample)
    best, encoding = 0.0, ""  # if nothing fits, use the most common encoding
    for place, match in enumerate(proposed):
        # Encodings that give the same text count together.
        names = [name for name in _TABLES if name in match.could_be_from_charset]
        if not names:
            continue
        text = str(match)
        if not text.strip():  # blanks beyond ASCII, and nothing else
            continue
        likely = language_scores(text)
        for name in names:
            languages, handicap = _TABLES[name]
            fit = max(
                _fit(text, language) + likely.get(language[:2], 0.0) for language in languages
            )
            score = fit - match.chaos - handicap - _ORDER * place
            score -= doubt if name != "cp1252" else 0.0
            if score > best:
                best, encoding = score, name
    return encoding


def _fit(text: str, language: str) -> float:
    """How well characters beyond ASCII go with a language: near 1 for a text, below 0 for noise."""
    beyond = [c for c in text if ord(c) > 127 and c not in _NEUTRAL]
    if not beyond:  # signs that go with any language, as a price has
        return 0.5
    if language in COMMON:
        return min(1.0, sum(_ideograph(c, language) for c in beyond) / len(beyond))
    weights, full = _weights(language)
    fit = min(1.0, sum(_letter(c, weights) for c in beyond) / len(beyond) / full)
    return fit - 1.5 * sum(map(_is_odd_pair, text, text[1:])) / len(beyond)


def _is_odd_pair(first: str, second: str) -> bool:
    """Two scripts in one word; or, from a table that swaps capitals and small letters as KOI8 does
    beside Windows', sHAPES."""
    if first.isascii() == second.isascii():
        return not first.isascii() and first.islower() and second.isupper()
    letter, other = (first, second) if first.isascii() else (second, first)
    return letter.isalpha() and ord(other) > _LATIN_END and other not in _NEUTRAL


def _ideograph(character: str, language: str) -> float:
    if character in _common(language):
        return 1.5
    if language == "ko":
        return 0.0 if "\uac00" <= character <= "\ud7a3" else -1.0
    if "\uff61" <= character <= "\uff9f":  # half-width kana: what noise becomes in Shift JIS
        return -0.5
    return -0.3 if "\u3000" <= character < "\ua000" else -1.0


def _letter(character: str, weights: dict[str, float]) -> float:
    weight = weights.get(character, weights.get(character.lower()))
    if weight is not None:
        return weight
    # Points and accents that stand by themselves are common where letters have them.
    marked = unicodedata.category(character)[0] == "M" and unicodedata.combining(character)
    return 0.0 if marked else -3.0


@cache
def _weights(language: str) -> tuple[dict[str, float], float]:
    """What each letter says for the language, and what a text of it has on average. For scripts of
    their own: how much more likely it is there than any one of 1.2 times as many, by its rank."""
    if language in LATIN:
        return dict.fromkeys(LATIN[language], 1.0), 1.0
    letters = OWN_SCRIPT[language]
    shares = [1 / (rank + 4) for rank in range(len(letters))]
    total = sum(shares)
    weights = [math.log(share / total * 1.2 * len(letters)) for share in shares]
    return dict(zip(letters, weights, strict=True)), 0.55


@cache
def _common(language: str) -> frozenset[str]:
    return frozenset(COMMON[language])
