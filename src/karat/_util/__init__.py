"""Helpers that know nothing of retrieval: registry, lazy imports, threads, cache, files, text."""

from typing import TYPE_CHECKING

from karat._util.lazy import exports

if TYPE_CHECKING:
    from karat._util.cache import Arrays as Arrays
    from karat._util.cache import cache_folder as cache_folder
    from karat._util.cache import cached as cached
    from karat._util.checks import check_choice as check_choice
    from karat._util.checks import check_extension as check_extension
    from karat._util.checks import check_table as check_table
    from karat._util.checks import check_text as check_text
    from karat._util.checks import check_unique_ids as check_unique_ids
    from karat._util.checks import holds_objects as holds_objects
    from karat._util.checks import not_finite as not_finite
    from karat._util.checks import parsing as parsing
    from karat._util.compiled import njit as njit
    from karat._util.deprecation import renamed_attributes as renamed_attributes
    from karat._util.deprecation import renamed_keywords as renamed_keywords
    from karat._util.extras import extra as extra
    from karat._util.extras import missing as missing
    from karat._util.files import cannot_write as cannot_write
    from karat._util.files import check_writable as check_writable
    from karat._util.files import replacing as replacing
    from karat._util.files import replacing_folder as replacing_folder
    from karat._util.files import write_errors as write_errors
    from karat._util.files import write_file as write_file
    from karat._util.files import write_folder as write_folder
    from karat._util.parallel import Loop as Loop
    from karat._util.parallel import default_threads as default_threads
    from karat._util.parallel import threads as threads
    from karat._util.registry import REQUIRED as REQUIRED
    from karat._util.registry import Param as Param
    from karat._util.registry import Registry as Registry
    from karat._util.registry import import_all as import_all
    from karat._util.registry import import_plugins as import_plugins
    from karat._util.registry import whole as whole
    from karat._util.registry import yes_or_no as yes_or_no
    from karat._util.result import PAGES as PAGES
    from karat._util.result import TEXT_FORMATS as TEXT_FORMATS
    from karat._util.result import Part as Part
    from karat._util.result import Result as Result
    from karat._util.result import flat as flat
    from karat._util.result import is_page as is_page
    from karat._util.result import json_text as json_text
    from karat._util.result import write_text as write_text
    from karat._util.tables import Layout as Layout
    from karat._util.tables import bar as bar
    from karat._util.tables import grouped as grouped
    from karat._util.tables import text_of as text_of
    from karat._util.text import MISSING as MISSING
    from karat._util.text import ends as ends
    from karat._util.text import or_none as or_none
    from karat._util.text import plural as plural
    from karat._util.text import signed as signed
    from karat._util.text_files import COMPLETE as COMPLETE
    from karat._util.text_files import ID as ID
    from karat._util.text_files import LIST as LIST
    from karat._util.text_files import NUMBER as NUMBER
    from karat._util.text_files import TEXT as TEXT
    from karat._util.text_files import Record as Record
    from karat._util.text_files import check_once as check_once
    from karat._util.text_files import read_json as read_json
    from karat._util.text_files import read_rows as read_rows
    from karat._util.text_files import read_table as read_table
    from karat._util.text_files import read_text as read_text

__all__, __getattr__, __dir__ = exports(__name__, __file__)
