"""Writes the words of a deployment into the bundled documents.

Only into those: any other document says itself what its scopes, fields and headers are called.
"""

from collections.abc import Mapping
from typing import Any, Final

from msgspec import to_builtins

from understudy.interface.scopes import AUTH
from understudy.interface.vocabulary import OWN_WORDS, Vocabulary
from understudy.openapi.loader import Document

_MULTIPART: Final = "multipart/form-data"


def in_words(document: Document, vocabulary: Vocabulary) -> Document:
    """Returns a bundled document as a deployment with this vocabulary would publish it."""
    if vocabulary == OWN_WORDS:
        return document
    return Document(document.path, _Rewriting(vocabulary).rewritten(document.raw))


class _Rewriting:
    """Copies a document with other words; nothing of the original is changed.

    Args:
        vocabulary: The words.
    """

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._vocabulary = vocabulary
        self._scopes = vocabulary.words
        own, other = to_builtins(OWN_WORDS.qr_types), to_builtins(vocabulary.qr_types)
        self._qr_types = {own[name]: other[name] for name in own}

    def rewritten(self, value: Any) -> Any:
        """Returns a part of a document with every word replaced."""
        if isinstance(value, dict):
            if value.get("name") == "type" and value.get("in") == "query":
                value = _mapped(value, self._qr_types)
            return {
                self._key(key): self._upload(member)
                if key == _MULTIPART
                else self.rewritten(member)
                for key, member in value.items()
            }
        if isinstance(value, list):
            return [self.rewritten(item) for item in value]
        return self._text(value) if isinstance(value, str) else value

    def _key(self, key: str) -> str:
        return self._header(self._scopes.get(key, key))

    def _text(self, text: str) -> str:
        for scope, word in self._scopes.items():
            if text == scope:
                return word
            # "auth" is also part of other words, so in prose it counts only where it is code
            quoted, plain = f"`{scope}`", f"={scope}&"
            text = text.replace(quoted, f"`{word}`").replace(plain, f"={word}&")
            text = text if scope == AUTH else text.replace(scope, word)
        return self._header(text)

    def _header(self, text: str) -> str:
        return text.replace(OWN_WORDS.rate_limit_headers, self._vocabulary.rate_limit_headers)

    def _upload(self, media: Any) -> Any:
        names = {OWN_WORDS.upload_field: self._vocabulary.upload_field}
        schema = media["schema"]
        return self.rewritten(
            {
                **media,
                "schema": {
                    **schema,
                    "required": [names.get(name, name) for name in schema["required"]],
                    "properties": _renamed(schema["properties"], names),
                },
                "encoding": _renamed(media["encoding"], names),
            }
        )


def _renamed(members: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    return {names.get(key, key): member for key, member in members.items()}


def _mapped(value: Any, words: Mapping[str, str]) -> Any:
    """Returns a parameter with the values of its schema and its example replaced."""
    schema = {**value["schema"], "enum": [words[word] for word in value["schema"]["enum"]]}
    return {**value, "schema": schema, "example": words[value["example"]]}
