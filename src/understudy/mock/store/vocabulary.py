"""Keeps the words of the deployment that a world stands in for, beside its fixtures."""

from typing import Final

from understudy.interface.vocabulary import OWN_WORDS, Vocabulary
from understudy.mock.server.worlds import Collection, World

VOCABULARY: Collection[Vocabulary] = Collection("vocabulary", Vocabulary)
"""The one key ONLY to the vocabulary."""

ONLY: Final = ""


def vocabulary_of(world: World) -> Vocabulary:
    """Returns the words of a world; those of the interface where its fixtures name none."""
    return world.get(VOCABULARY, ONLY) or OWN_WORDS
