"""A run of an algorithm, and what a network believed of it, as one page that plays it step by step."""

from rnar.inference.page.playback import Playback, playback

__all__ = ["Playback", "playback"]
