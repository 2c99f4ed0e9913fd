"""Stores the vocabulary of a deployment, such as its names of scopes, among a world's fixtures."""

from typing import Final

from understudy.interface.vocabulary import OWN_WORDS, Vocabulary
from understudy.mock.server.worlds import Collection, World

VOCABULARY: Collection[Vocabulary] = Collection("vocabulary", Vocabulary)
"""The vocabulary, a single record with the key ``ONLY``."""

ONLY: Final = ""


def vocabulary_of(world: World) -> Vocabulary:
    """Returns the vocabulary of a world: that of its fixtures, else the interface's."""
    return world.get(VOCABULARY, ONLY) or OWN_WORDS
