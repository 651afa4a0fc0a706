"""The owner's page about people: roles, links, export and deletion."""
