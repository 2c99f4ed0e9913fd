"""Writes the words of a deployment into the bundled documents, and reads them from any other.

A document in force says itself what its scopes, fields and headers are called.
"""

from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any, Final

from msgspec import to_builtins
from msgspec.structs import replace

from understudy.interface.operations import CHANGES, READS, key_of
from understudy.interface.scopes import AUTH
from understudy.interface.vocabulary import OWN_WORDS, ScopeWords, Vocabulary
from understudy.openapi.loader import Document
from understudy.openapi.operations import Operation, operations

_MULTIPART: Final = "multipart/form-data"


def in_words(document: Document, vocabulary: Vocabulary) -> Document:
    """Returns a bundled document as a deployment with this vocabulary would publish it."""
    if vocabulary == OWN_WORDS:
        return document
    return Document(document.path, _Rewriting(vocabulary).rewritten(document.raw))


def with_declared_scopes(vocabulary: Vocabulary, document: Document) -> Vocabulary:
    """Returns a vocabulary with the scopes that a document in force requires.

    The scopes of the operations that read, and of those that change, tell which word is which. Where
    they do not, as under one scope for everything, the vocabulary stays as it is.
    """
    declared = {key_of(it.method, it.path): _required_scopes(it) for it in operations(document)}
    reading = _common([declared[key] for key in READS if declared.get(key)])
    changing = _common([declared[key] for key in CHANGES if declared.get(key)])
    both = reading & changing
    if len(reading - both) != 1 or len(changing - both) != 1:
        return vocabulary
    (read,), (manage,) = reading - both, changing - both
    auth = next(iter(both)) if len(both) == 1 else vocabulary.scopes.auth
    return replace(vocabulary, scopes=ScopeWords(auth, read, manage))


def _required_scopes(operation: Operation) -> frozenset[str]:
    """Returns the scopes of the first alternative that has any."""
    alternatives = (chain.from_iterable(needed.values()) for needed in operation.security)
    return next(filter(None, map(frozenset, alternatives)), frozenset())


def _common(sets: Sequence[frozenset[str]]) -> frozenset[str]:
    return frozenset.intersection(*sets) if sets else frozenset()


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
