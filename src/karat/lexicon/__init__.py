"""Knowledge about English words: WordNet, lemmas, tags."""

from typing import TYPE_CHECKING

from karat._util.lazy import exports

if TYPE_CHECKING:
    from karat.lexicon.database import WordNet as WordNet
    from karat.lexicon.database import wordnet as wordnet
    from karat.lexicon.files import find_wordnet as find_wordnet
    from karat.lexicon.information_content import InformationContent as InformationContent

__all__, __getattr__, __dir__ = exports(__name__, __file__)
