"""How it is worded: sentences in every language of the report, with numbers as each language writes them."""

from isonomia.languages.encoding import Encoded, Record, decode, encode
from isonomia.languages.locales import Language, Locale, check_language, languages, locale, translate
from isonomia.languages.message import Message, msg, once
from isonomia.languages.naming import Name

__all__ = [
    "Encoded",
    "Language",
    "Locale",
    "Message",
    "Name",
    "Record",
    "check_language",
    "decode",
    "encode",
    "languages",
    "locale",
    "msg",
    "once",
    "translate",
]
