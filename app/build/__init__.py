"""The finished application into a static site: what is asked for, where it is put, how its links lead there."""
