"""The problems that algorithms solve: one class each, `Problem` their interface."""
