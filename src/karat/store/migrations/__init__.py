"""The migrations of the schema, a file each; `karat.store.migration` runs them."""

from typing import TYPE_CHECKING

from karat._util.lazy import exports

if TYPE_CHECKING:
    from karat.store.migrations.append_only import FUNCTION as FUNCTION
    from karat.store.migrations.append_only import SQLITE as SQLITE
    from karat.store.migrations.columns import key as key
    from karat.store.migrations.columns import only as only
    from karat.store.migrations.columns import real as real
    from karat.store.migrations.columns import text as text
    from karat.store.migrations.columns import whole as whole

__all__, __getattr__, __dir__ = exports(__name__, __file__)
