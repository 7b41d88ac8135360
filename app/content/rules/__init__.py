"""One rule of the garden's markdown a file; the table of them is in app/content/markdown.py."""
