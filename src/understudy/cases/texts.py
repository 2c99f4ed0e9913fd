"""Texts and numbers that are known to break software, independent of any document.

Ambiguous characters are written as escapes, so that no editor normalises them.
"""

from collections.abc import Mapping
from random import Random  # noqa: TID251 - seeded by the caller

from understudy.terminal import counted

LONG = 10_000
"""Length of the text for members without a declared limit: beyond most database columns, yet fast."""

UNICODE: Mapping[str, str] = {
    "e-acute as one code point (NFC)": "Ren\u00e9e",
    "e-acute as two code points (NFD)": "Rene\u0301e",
    "a ligature of f and i, which NFKC takes apart": "\ufb01nn",
    "emoji with joiners": "\U0001f469\u200d\U0001f469\u200d\U0001f467\u200d\U0001f466",
    "emoji with a skin tone": "\U0001f44d\U0001f3fd",
    "a flag of two regional indicators": "\U0001f1f5\U0001f1f9",
    "a character outside the basic plane": "\U00020bb7\u91ce\u5bb6",
    "right-to-left letters": "\u0644\u064a\u0644\u0649",
    "left-to-right and right-to-left letters in one text": "abc \u05e9\u05dc\u05d5\u05dd 123",
    "a mark that turns the direction of writing (U+202E)": "moc.\u202eelpmaxe",
    "marks that isolate a direction of writing": "\u2066left\u2069 and \u2067right\u2069",
    "zero-width space and non-joiner": "in\u200bvis\u200cible",
    "a byte order mark inside": "mark\ufeffed",
    "a soft hyphen": "cart\u00adographer",
    "accents piled upon letters": "Z\u0351\u036b\u0343a\u0321\u034a\u0348lgo",
    "a dotless i, where lower-casing depends on the language": "\u0130stanbul \u0131l\u0131k",
    "a sharp s, where upper-casing adds a letter": "Stra\u00dfe",
    "letters of another script that look alike": "\u0410d\u0430",
    "full-width letters": "\uff21\uff44\uff41",
    "the replacement character (U+FFFD)": "\ufffd",
    "code points that are not characters (U+FFFE, U+FFFF)": "\ufffe\uffff",
    "characters for private use (U+E000)": "\ue000\uf8ff",
    "line and paragraph separators": "one\u2028two\u2029three",
    "the control character for a next line (U+0085)": "one\u0085two",
    "an ideographic space": "\u6771\u3000\u4eac",
    "a no-break space at both ends": "\u00a0Ada\u00a0",
    "Arabic-Indic digits": "\u0661\u0662\u0663",
}
"""Description to text, for troublesome Unicode."""

PLAIN: Mapping[str, str] = {
    "only spaces": "   ",
    "spaces at both ends": "  Ada  ",
    "a tab and line ends": "one\ttwo\r\nthree\n",
    "a NUL character": "nul\x00inside",
    "control characters": "bell\x07 escape\x1b[31m",
    "an HTML element with an event handler": "<b onmouseover=alert(1)>Ada</b>",
    "a script element": '"><script>alert(1)</script>',
    "a quote that ends an SQL string": "Robert'); DROP TABLE people;--",
    "a template expression": "{{7*7}} ${7*7} <%= 7*7 %>",
    "a formula for a spreadsheet": '=HYPERLINK("http://example.com","x")',
    "a path that leads upwards, ../..": "../../../../etc/passwd",
    "a format string": "%s%n%x {0} %(name)s",
    "percent signs as if it were encoded already": "100%25 %C3%A9 %zz",
    "a plus, an ampersand and a hash sign": "1+1=2&x=y#z",
    "quotes and backslashes": "\\\"'`\\u0041\\",
    "the word null": "null",
    "the word true": "true",
    "a number": "0123",
    "a number with an exponent": "1e309",
    "an empty JSON object": "{}",
    "a placeholder that was never filled in, <string>": "<string>",
    "an e-mail address": "ada@example.com",
    "a harmless word that filters for swear words refuse": "Scunthorpe Penistone",
}

EMPTY_LOOKING = {"a zero-width space alone": "\u200b", "a no-break space alone": "\u00a0"}

NO_INTEGERS: Mapping[str, str] = {
    "nothing": "",
    "a word": "eighty",
    "a fraction": "80.5",
    "a hexadecimal number": "0x50",
    "an underscore between digits": "1_0",
    "a comma for thousands": "1,024",
    "full-width digits": "\uff18\uff10",
    "Arabic-Indic digits": "\u0668\u0660",
    "the word NaN": "NaN",
    "the word Infinity": "Infinity",
    "the word null": "null",
    "the word true": "true",
    "a unit behind it": "80px",
    "two numbers": "80 240",
    "a minus alone": "-",
}
"""Description to text, for texts that no parser reads as an integer."""

POSSIBLE_INTEGERS: Mapping[str, str] = {
    "a leading zero": "080",
    "a plus sign": "+80",
    "a fraction of zero": "80.0",
    "an exponent": "8e1",
    "a space before it": " 80",
    "a line end behind it": "80\n",
}
"""Description to text, for texts that only some parsers read as an integer."""

INTEGERS: Mapping[str, int] = {
    "0": 0,
    "-1": -1,
    "2^31 - 1": 2**31 - 1,
    "2^31": 2**31,
    "-2^31 - 1": -(2**31) - 1,
    "2^53 + 1, which a double cannot hold": 2**53 + 1,
    "2^63": 2**63,
    "2^64": 2**64,
    "30 digits": 10**29 + 7,
}

LEXEMES = {
    "negative zero": "-0",
    "an exponent": "1E2",
    "a fraction of zero": "3.0",
    "a number that no double holds": "1e400",
    "a number that a double makes zero": "1e-400",
    "thirty digits behind the point": "0.100000000000000000000000000001",
}
"""Description to JSON number, for numbers that parsers may read differently (RFC 8259, 6)."""

TELLING = frozenset(
    {
        *("2^63", "a number that no double holds, 1e400", "a quote that ends an SQL string"),
        *("empty", "a value that is not listed"),
    }
)
"""Descriptions of the values that most often crash services."""

NO_BOOLEANS = {
    "1": "1",
    "0": "0",
    "True with a capital": "True",
    "TRUE": "TRUE",
    "yes": "yes",
    "on": "on",
    "t": "t",
    "true in quotes": '"true"',
    "true with a space behind it": "true ",
    "2": "2",
}

BAD_JSON: Mapping[str, bytes] = {
    "cut off in the middle": b'{"a": "b',
    "a comma at the end": b'{"a": "b",}',
    "single quotes": b"{'a': 'b'}",
    "names without quotes": b'{a: "b"}',
    "a comment": b'{"a": "b" /* why */}',
    "NaN": b'{"a": NaN}',
    "Infinity": b'{"a": -Infinity}',
    "a number with a leading zero": b'{"a": 01}',
    "a hexadecimal number": b'{"a": 0x1F}',
    "two values": b'{"a": "b"}{"a": "b"}',
    "a line end within a string": b'{"a": "b\nc"}',
    "an unknown escape": b'{"a": "\\x41"}',
    "bytes that are not UTF-8": b'{"a": "\xff\xfe"}',
    "UTF-8 of more bytes than are needed": b'{"a": "\xc0\xaf"}',
    "Python's None": b'{"a": None}',
    "only spaces": b"   ",
    "a word": b"undefined",
    "XML": b"<a>b</a>",
    "a form": b"a=b&c=d",
}

ALPHABETS: Mapping[str, str] = {
    "small letters": "abcdefghijklmnopqrstuvwxyz",
    "capitals and digits": "ABCXYZ 0123456789",
    "accented letters": "\u00e9\u00fc\u00f1\u00df\u0130\u0131",
    "joiners and direction marks": "\u0301\u0308\u200d\u200b\u202e\u2066\u2069\ufeff",
    "emoji": "\U0001f469\U0001f680\U0001f1f5\U0001f1f9\U0001f3fd",
    "Hebrew, Arabic, Chinese and Japanese letters": "\u05d0\u05d1\u0627\u0644\u4e2d\u6587\u3042",
    "punctuation": "<>&'\"\\/%+=#?;:{}[]()",
    "white space": "\t\n\r \u00a0\u2028",
}
"""Description to the characters of an alphabet."""


def drawn(chance: Random, longest: int = 60) -> str:
    """Returns a random text with characters of one to three alphabets."""
    pools = chance.sample([*ALPHABETS.values()], chance.randrange(1, 4))
    size = chance.randrange(1, longest + 1)
    return "".join(chance.choice(chance.choice(pools)) for _ in range(size))


def spelled(text: str) -> str:
    """Describes a random text by its length and alphabets, in words that any terminal can show."""
    kinds = [name for name, letters in ALPHABETS.items() if set(letters) & set(text)]
    return f"{counted(len(text), 'character')}, made of {', '.join(kinds or ['others'])}"


def all_texts() -> dict[str, str]:
    """Returns all texts by their descriptions."""
    return {**UNICODE, **PLAIN, **EMPTY_LOOKING}
