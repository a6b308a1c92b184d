"""How it is said: sentences in English and Portuguese, with numbers written as each language writes them."""

from isonomia.languages.message import LANGUAGES, Language, Message, check_language, msg, translate
from isonomia.languages.naming import Name

__all__ = ["LANGUAGES", "Language", "Message", "Name", "check_language", "msg", "translate"]
