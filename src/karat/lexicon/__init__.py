"""What is known of English words: WordNet, lemmas, tags."""

from karat.lexicon.content import InformationContent
from karat.lexicon.wordnet import WordNet, wordnet

__all__ = ["InformationContent", "WordNet", "wordnet"]
