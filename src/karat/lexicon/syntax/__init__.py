"""A part-of-speech tagger and dependency parser for English captions."""

from typing import TYPE_CHECKING

from karat._util.lazy import exports

if TYPE_CHECKING:
    from karat.lexicon.syntax.parser import Parser as Parser
    from karat.lexicon.syntax.parser import load_parser as load_parser
    from karat.lexicon.syntax.sentences import LABELS as LABELS
    from karat.lexicon.syntax.sentences import TAGS as TAGS
    from karat.lexicon.syntax.sentences import XPOS as XPOS
    from karat.lexicon.syntax.sentences import Parsed as Parsed
    from karat.lexicon.syntax.sentences import Sentence as Sentence

__all__, __getattr__, __dir__ = exports(__name__, __file__)
