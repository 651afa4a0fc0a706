"""What stands before every route: headers, hosts, origins, sizes; as plain ASGI, so that streams pass."""
