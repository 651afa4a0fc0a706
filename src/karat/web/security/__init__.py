"""Security: cookies, and the middleware in front of every route; plain ASGI, so that streams pass."""

from typing import TYPE_CHECKING

from karat._util.lazy import exports

if TYPE_CHECKING:
    from karat.web.security.cookies import Cookies as Cookies
    from karat.web.security.cookies import csrf_of as csrf_of
    from karat.web.security.cookies import same as same
    from karat.web.security.middleware import Bodies as Bodies
    from karat.web.security.middleware import Headers as Headers
    from karat.web.security.middleware import Hosts as Hosts
    from karat.web.security.middleware import Origins as Origins
    from karat.web.security.middleware import Prefix as Prefix

__all__, __getattr__, __dir__ = exports(__name__, __file__)
