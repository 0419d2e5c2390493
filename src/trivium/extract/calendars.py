"""Reads calendars (ICS) and address cards (VCF): an entry for each event, task or person.

Both are lines of `NAME;PARAMETER=…:value` between BEGIN and END. Says how often an event repeats,
and knows nothing of the days on which it then is; times stay in the zone they were written in.
"""

from __future__ import annotations

import quopri
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta

from trivium.core.types import Extraction, Place
from trivium.extract.charsets import named
from trivium.extract.composer import Composer, describe
from trivium.extract.html_tree import inline_text, parse_html
from trivium.extract.sniff import binary_kind
from trivium.extract.text import decode
from trivium.ports import Blob, reads

# A calendar, a card, or one event of a calendar by itself, as mail programs and CalDAV hand over.
_BEGINNING = re.compile(
    rb"(?:\xef\xbb\xbf)?\s*BEGIN:V(?:CALENDAR|CARD|EVENT|TODO|JOURNAL|TIMEZONE|FREEBUSY)\s",
    re.IGNORECASE,
)
# Before decoding: many programs fold after 75 bytes, amid a letter.
_FOLD = re.compile(rb"\r?\n[ \t]")
_QUOTED = re.compile(r"[^:\n]*QUOTED-PRINTABLE[^:\n]*:", re.IGNORECASE)
_CHARSET = re.compile(r"CHARSET=\"?([\w.-]+)", re.IGNORECASE)
_HTML = re.compile(r"<(?:br|p|a|b|i|u|ul|ol|li|div|span|html)\b[^<>]*>", re.IGNORECASE)
_LINE = re.compile(r"(?:[\w-]+\.)?([\w-]+)((?:;(?:\"[^\"]*\"|[^:\";])*)*):(.*)", re.DOTALL)
_TIME = re.compile(r"(\d{4})-?(\d\d)-?(\d\d)(?:[T ]?(\d\d):?(\d\d):?(\d\d)?(Z?))?")
_DURATION = re.compile(r"P(?:(\d+)W)?(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)S)?)?")
_ZONE = re.compile(r"TZID=\"?([^\";]+)", re.IGNORECASE)
_NAMED = re.compile(r"CN=(?:\"([^\"]*)\"|([^\";:]+))", re.IGNORECASE)
_KIND = re.compile(r"(?:TYPE=)?\"?(home|work|cell|mobile|fax|pager|main)\b", re.IGNORECASE)
_ESCAPED = re.compile(r"\\(.)")
_CALENDAR_NAMES = frozenset({"X-WR-CALNAME", "NAME"})
_ENTRIES = frozenset({"VEVENT", "VTODO", "VJOURNAL", "VCARD"})
_IN_EVENT = (
    ("LOCATION", "Where"),
    ("STATUS", "Status"),
    ("CATEGORIES", "Categories"),
    ("URL", "Link"),
)
_IN_CARD = (
    ("NICKNAME", "Nickname"),
    ("ORG", "Organisation"),
    ("TITLE", "Title"),
    ("ROLE", "Role"),
    ("EMAIL", "E-mail"),
    ("TEL", "Phone"),
    ("ADR", "Address"),
    ("BDAY", "Birthday"),
    ("URL", "Link"),
    ("ANNIVERSARY", "Anniversary"),
    ("CATEGORIES", "Categories"),
)
_DAYS = {"MO": "Monday", "TU": "Tuesday", "WE": "Wednesday", "TH": "Thursday", "FR": "Friday"}
_DAYS |= {"SA": "Saturday", "SU": "Sunday"}
_ORDER = {"1": "first", "2": "second", "3": "third", "4": "fourth", "5": "fifth", "-1": "last"}
_UNITS = {"DAILY": "day", "WEEKLY": "week", "MONTHLY": "month", "YEARLY": "year", "HOURLY": "hour"}


@dataclass(slots=True)
class _Entry:
    kind: str
    fields: dict[str, list[tuple[str, str]]] = field(default_factory=dict)  # parameters, value

    def values(self, name: str) -> list[str]:
        return [_plain(value) for _, value in self.fields.get(name, ())]

    def value(self, name: str) -> str:
        return next((value for value in self.values(name) if value), "")

    def time(self, name: str) -> str:
        """A day, or a day and time, in ISO 8601."""
        match = _TIME.match(self.value(name))
        if match is None:
            return ""
        year, month, day, hour, minute, second, zulu = match.groups()
        time = f"T{hour}:{minute}:{second or '00'}{zulu}" if hour else ""
        return f"{year}-{month}-{day}{time}"

    def end(self) -> str:
        """When it ends. The last day of days that are whole is the one before its DTEND."""
        start, end = self.time("DTSTART"), self.time("DTEND")
        length = _DURATION.fullmatch(self.value("DURATION").lstrip("+"))
        try:
            if end and "T" not in end and end > start:
                return str(date.fromisoformat(end) - timedelta(days=1))
            if not end and start and length:
                weeks, days, hours, minutes, seconds = (int(part or 0) for part in length.groups())
                whole = timedelta(weeks * 7 + days, hours * 3600 + minutes * 60 + seconds)
                if "T" not in start:
                    return str(date.fromisoformat(start) + whole - timedelta(days=1))
                last = datetime.fromisoformat(start.removesuffix("Z")) + whole
                return last.isoformat() + ("Z" if start.endswith("Z") else "")
        except (OverflowError, ValueError):
            pass
        return end

    def zone(self, name: str) -> str:
        """The zone of a time, by the name people know: `Europe/Lisbon`, `Eastern Standard Time`."""
        parameters = next((parameters for parameters, _ in self.fields.get(name, ())), "")
        zone = _ZONE.search(parameters)
        return "/".join(zone[1].strip().split("/")[-2:]).replace("_", " ") if zone else ""

    def people(self, name: str) -> list[str]:
        people = []
        for parameters, value in self.fields.get(name, ()):
            named = _NAMED.search(parameters)
            address = re.sub(r"(?i)^mailto:", "", value).strip()
            name_of_it = _plain(named[1] or named[2] or "") if named else ""
            is_new = name_of_it and name_of_it.lower() != address.lower()
            people.append(f"{name_of_it} <{address}>" if is_new and address else address)
        return [person for person in people if person]


@reads(
    "calendar/3",
    lambda blob: bool(_BEGINNING.match(blob.data[:200])) and not binary_kind(blob.data),
)
def read_calendar(blob: Blob) -> Extraction:
    """Takes texts that begin as a calendar or an address card does."""
    out = Composer(blob.name)
    lines = list(_lines(decode(Blob(blob.name, _FOLD.sub(b"", blob.data)))))
    entries = list(_entries(lines))
    calendar = next((value for name, _, value in lines if name in _CALENDAR_NAMES and value), "")
    cards = [entry for entry in entries if entry.kind == "VCARD"]
    for entry in entries:
        (_card if entry.kind == "VCARD" else _event)(out, entry)
    dates = sorted(filter(None, (entry.time("DTSTART") for entry in entries)))
    fields: dict[str, object] = {
        "events": len(entries) - len(cards),
        "contacts": len(cards),
        "date": dates[0] if dates else "",
        "last": dates[-1] if len(dates) > 1 else "",
        "location": entries[0].value("LOCATION") if len(entries) == 1 else "",
        "authors": entries[0].people("ORGANIZER") if len(entries) == 1 else (),
    }
    return out.finish(
        blob,
        titles=(out.first_heading if len(entries) == 1 else _plain(calendar),),
        media_type="text/vcard" if cards else "text/calendar",
        metadata=describe(fields),
    )


def _lines(text: str) -> Iterator[tuple[str, str, str]]:
    """Name, parameters and value of every line."""
    lines = iter(text.split("\n"))
    for first in lines:
        line = first
        if _QUOTED.match(line):
            while line.endswith("="):  # of other lines such an end is data: of a photo, say
                line = line[:-1] + next(lines, "")
        if match := _LINE.match(line):
            value = match[3].strip()
            if "QUOTED-PRINTABLE" in match[2].upper():
                value = _unquoted(value, match[2])
            yield match[1].upper(), match[2], value


def _unquoted(value: str, parameters: str) -> str:
    data = quopri.decodestring(value.encode())
    charset = _CHARSET.search(parameters)
    for encoding in (named(charset[1]) if charset else "utf-8", "utf-8"):
        try:
            return data.decode(encoding)
        except (LookupError, UnicodeDecodeError):
            continue
    return data.decode("cp1252", "replace")


def _entries(lines: Iterable[tuple[str, str, str]]) -> Iterator[_Entry]:
    """The events and people of a file; alarms and time zones within them are left out."""
    entry: _Entry | None = None
    inner = 0
    for name, parameters, value in lines:
        if name == "BEGIN":
            inner += entry is not None
            if entry is None and value.upper() in _ENTRIES:
                entry = _Entry(value.upper())
        elif name == "END":
            if entry is not None and not inner:
                yield entry
                entry = None
            inner = max(0, inner - 1)
        elif entry is not None and not inner and name not in ("PHOTO", "LOGO", "KEY", "SOUND"):
            entry.fields.setdefault(name, []).append((parameters, value))
    if entry is not None:
        yield entry


def _event(out: Composer, entry: _Entry) -> None:
    start, end, due = entry.time("DTSTART"), entry.end(), entry.time("DUE")
    organisers, guests = entry.people("ORGANIZER"), entry.people("ATTENDEE")
    place = Place(authors=tuple(organisers), time=start or due)
    out.heading(2, entry.value("SUMMARY") or f"Event {start or due}".strip(), place)
    zones = (entry.zone("DTSTART"), entry.zone("DTEND") or entry.zone("DTSTART"))
    lines = [f"When: {_when(start, end, zones)}"] if start else []
    lines += [f"Due: {_when(due, '', (entry.zone('DUE'), ''))}"] if due else []
    lines += [f"Repeats: {_repeats(rule)}" for rule in entry.values("RRULE") if rule]
    lines += [f"{name}: {entry.value(key)}" for key, name in _IN_EVENT if entry.value(key)]
    lines += [f"Organiser: {', '.join(organisers)}"] if organisers else []
    lines += [f"Who: {', '.join(guests)}"] if guests else []
    out.add("paragraph", "\n".join(lines), place=place)
    for part in (*entry.values("DESCRIPTION"), *entry.values("COMMENT")):
        root = parse_html(part.replace("<br", "\n<br")) if _HTML.search(part) else None
        out.add("paragraph", part if root is None else inline_text(root), place=place)


def _repeats(rule: str) -> str:
    """`every 2 weeks on Tuesday until 3 July 2012`; a rule of another kind as it is."""
    parts = dict(part.upper().split("=", 1) for part in rule.split(";") if "=" in part)
    unit = _UNITS.get(parts.pop("FREQ", ""))
    days = [
        re.fullmatch(r"\s*\+?(-?\d+)?([A-Z]{2})\s*", day)
        for day in parts.pop("BYDAY", "").split(",")
        if day
    ]
    if unit is None or not all(
        day and day[2] in _DAYS and (not day[1] or day[1] in _ORDER) for day in days
    ):
        return rule
    count = parts.pop("INTERVAL", "1")
    rhythm = f"every {unit}" if count == "1" else f"every {count} {unit}s"
    names = []
    for day in filter(None, days):
        order = _ORDER.get(day[1] or "", "")
        names.append(f"the {order} {_DAYS[day[2]]}" if order else _DAYS[day[2]])
    rhythm += f" on {', '.join(names)}" if names else ""
    times, until = parts.pop("COUNT", ""), _TIME.match(parts.pop("UNTIL", ""))
    rhythm += f", {times} times" if times else ""
    rhythm += (
        f" until {_spoken('-'.join(until.groups()[:3]))[0].split(' ', 1)[-1]}" if until else ""
    )
    parts.pop("WKST", None)
    rest = ";".join(f"{name}={value}" for name, value in parts.items())
    return f"{rhythm} ({rest})" if rest else rhythm


def _card(out: Composer, entry: _Entry) -> None:
    family = [part for part in entry.value("N").split(";") if part.strip()]
    name = entry.value("FN") or " ".join(family[1::-1]) or entry.value("ORG")
    out.heading(2, name or next(iter(entry.values("EMAIL")), "Contact"))
    lines = []
    for key, label in _IN_CARD:
        for parameters, value in entry.fields.get(key, ()):
            parts = (_plain(part) for part in re.split(r"(?<!\\);", value))
            text = ", ".join(filter(None, parts)).removeprefix("tel:")
            kinds = dict.fromkeys(kind.lower() for kind in _KIND.findall(parameters))
            labelled = f"{label} ({', '.join(kinds)})" if kinds else label
            lines += [f"{labelled}: {text}"] if text else []
    out.add("paragraph", "\n".join(lines))
    for note in entry.values("NOTE"):
        out.add("paragraph", note)


def _when(start: str, end: str, zones: tuple[str, str]) -> str:
    """As people write it, and at the end in figures, since they search by both: `Friday 3 May 2024,
    14:00 to 15:30 Europe/Lisbon (2024-05-03)`."""
    (day, at), (last, until) = _spoken(start, zones[0]), _spoken(end, zones[1])
    if until and end != start and zones[0] == zones[1] and not f"{start}{end}".count("Z"):
        at = at.removesuffix(f" {zones[0]}")
    period = ", ".join(filter(None, (day, at)))
    if end and end != start:
        period += f" to {', '.join(filter(None, ('' if last == day and until else last, until)))}"
    return f"{period} ({start[:10]})"


def _spoken(time: str, zone: str = "") -> tuple[str, str]:
    """The day and the time of day."""
    written, _, clock = time.partition("T")
    try:
        day = f"{date.fromisoformat(written):%A %-d %B %Y}" if written else ""
    except ValueError:  # the 31st of June
        day = written
    zone = " UTC" if clock.endswith("Z") else f" {zone}" if zone and clock else ""
    return day, clock.removesuffix("Z").removesuffix(":00") + zone


def _plain(value: str) -> str:
    return _ESCAPED.sub(lambda sign: "\n" if sign[1] in "nN" else sign[1], value).strip()
