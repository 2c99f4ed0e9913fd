"""Mutants of how the texts of an update are converted on their way into the store, made by hand."""

import re
from collections.abc import Callable
from functools import partial

from tests.proofs.mutants.edge import mutant
from tests.proofs.mutants.edited_profiles import PARTIAL, SEVEN, with_texts


def _unsets(word: str, text: str) -> str:
    return "" if text == word else text


CONVERSIONS: dict[str, Callable[[str], str]] = {
    "the_word_null_unsets": partial(_unsets, "null"),
    "the_word_false_unsets": partial(_unsets, "false"),
    "an_empty_list_in_a_text_unsets": partial(_unsets, "[]"),
    "spaces_within_texts_are_joined": lambda text: re.sub(" +", " ", text),
    "line_ends_become_spaces": lambda text: text.replace("\n", " "),
    "line_ends_become_those_of_mail": lambda text: text.replace("\n", "\r\n"),
    "addresses_vanish_from_texts": lambda text: re.sub(r"https?://\S+", "", text),
    "plus_signs_become_spaces": lambda text: text.replace("+", " "),
    "joined_emoji_come_apart": lambda text: text.replace("\u200d", ""),
    "texts_are_cut_after_500_characters": lambda text: text[:500],
    "texts_are_cut_after_1024_characters": lambda text: text[:1024],
}


def _register(name: str, convert: Callable[[str], str]) -> None:
    def change(request, send):
        return with_texts(request, send, convert)

    change.__name__ = name
    mutant(SEVEN, PARTIAL)(change)


for name, convert in CONVERSIONS.items():
    _register(name, convert)
