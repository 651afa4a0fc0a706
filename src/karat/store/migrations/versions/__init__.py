"""The steps. A step that was released is never changed."""
