"""How it is said: sentences in English and Portuguese, with numbers written as each language writes them."""

from isonomia.languages.encoding import Encoded, Record, decode, encode
from isonomia.languages.message import LANGUAGES, Language, Message, check_language, msg, translate
from isonomia.languages.naming import Name

__all__ = [
    "Encoded",
    "LANGUAGES",
    "Language",
    "Message",
    "Name",
    "Record",
    "check_language",
    "decode",
    "encode",
    "msg",
    "translate",
]
