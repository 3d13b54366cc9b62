"""Runs in tables and figures, beside the numbers that were published."""
