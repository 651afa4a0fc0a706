"""Knowledge about English words: WordNet, lemmas, tags."""

from typing import TYPE_CHECKING

from karat._util.lazy import exports

if TYPE_CHECKING:
    from karat.lexicon.antonyms import VERB_PAIRS as VERB_PAIRS
    from karat.lexicon.antonyms import adjective_antonyms as adjective_antonyms
    from karat.lexicon.antonyms import verb_antonyms as verb_antonyms
    from karat.lexicon.attribute_words import ATTRIBUTE_KINDS as ATTRIBUTE_KINDS
    from karat.lexicon.attribute_words import COLOUR_WORDS as COLOUR_WORDS
    from karat.lexicon.attribute_words import NUMBER_WORDS as NUMBER_WORDS
    from karat.lexicon.attribute_words import SIZE_WORDS as SIZE_WORDS
    from karat.lexicon.attribute_words import attribute_of as attribute_of
    from karat.lexicon.coco_categories import COCO_SYNSETS as COCO_SYNSETS
    from karat.lexicon.colours import COLOURS as COLOURS
    from karat.lexicon.colours import SHADES as SHADES
    from karat.lexicon.colours import colour_distance as colour_distance
    from karat.lexicon.database import WordNet as WordNet
    from karat.lexicon.database import wordnet as wordnet
    from karat.lexicon.files import find_wordnet as find_wordnet
    from karat.lexicon.inflection import article_for as article_for
    from karat.lexicon.inflection import in_case_of as in_case_of
    from karat.lexicon.inflection import plural_of as plural_of
    from karat.lexicon.inflection import verb_form as verb_form
    from karat.lexicon.information_content import InformationContent as InformationContent
    from karat.lexicon.word_lists import word_set as word_set

__all__, __getattr__, __dir__ = exports(__name__, __file__)
