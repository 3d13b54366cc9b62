"""How networks are run: step after step, in little memory, on all cores."""
