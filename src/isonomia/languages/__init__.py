"""How it is worded: sentences in every language of the report, with numbers as each language writes them."""

from isonomia.languages.encoding import Encoded, Record, decode, encode
from isonomia.languages.error_texts import error_message, error_text
from isonomia.languages.faults import fault_message
from isonomia.languages.locales import Language, Locale, check_language, languages, locale, translate
from isonomia.languages.message import Message, as_message, msg, once, take_texts
from isonomia.languages.naming import Name
from isonomia.languages.people import ColumnName, OutcomeName, People, column_names, with_people
from isonomia.languages.words import Words

__all__ = [
    "ColumnName",
    "Encoded",
    "Language",
    "Locale",
    "Message",
    "Name",
    "OutcomeName",
    "People",
    "Record",
    "Words",
    "as_message",
    "check_language",
    "column_names",
    "decode",
    "encode",
    "error_message",
    "error_text",
    "fault_message",
    "languages",
    "locale",
    "msg",
    "once",
    "take_texts",
    "translate",
    "with_people",
]
