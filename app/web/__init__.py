"""A garden and its laboratory into pages, fragments, JSON and downloads."""
