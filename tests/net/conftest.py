"""The script that made the files uses names of its own time: pytest must not import it for doctests."""

collect_ignore = ["make_files.py"]
