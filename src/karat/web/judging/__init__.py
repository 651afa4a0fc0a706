"""The page where people judge: tasks are taken, answered, handed in; nothing says which pairs are known."""
