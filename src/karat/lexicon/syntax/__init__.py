"""A part-of-speech tagger and dependency parser for English captions."""

from karat.lexicon.syntax.parsed import Parsed, Sentence
from karat.lexicon.syntax.parser import Parser, load_parser
from karat.lexicon.syntax.spacy_parser import SpacyParser
from karat.lexicon.syntax.tagset import LABELS, TAGS, XPOS

__all__ = ["LABELS", "TAGS", "XPOS", "Parsed", "Parser", "Sentence", "SpacyParser", "load_parser"]
