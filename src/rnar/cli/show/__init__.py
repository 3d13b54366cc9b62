"""A run of an algorithm as text for people: `page.show` lays it out, the other files have its parts."""
