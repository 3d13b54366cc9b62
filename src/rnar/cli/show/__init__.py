"""A run of an algorithm as text for people: `page` lays it out, the other files have its parts."""
