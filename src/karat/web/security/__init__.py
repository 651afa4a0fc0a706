"""What stands before every route: headers, hosts, origins, sizes; as plain ASGI, so that streams pass."""

from typing import TYPE_CHECKING

from karat._util.lazy import exports

if TYPE_CHECKING:
    from karat.web.security.bodies import Bodies as Bodies
    from karat.web.security.cookies import Cookies as Cookies
    from karat.web.security.csrf import csrf_of as csrf_of
    from karat.web.security.csrf import same as same
    from karat.web.security.headers import Headers as Headers
    from karat.web.security.hosts import Hosts as Hosts
    from karat.web.security.origins import Origins as Origins
    from karat.web.security.prefix import Prefix as Prefix
    from karat.web.security.redirects import safe_next as safe_next

__all__, __getattr__, __dir__ = exports(__name__, __file__)
