"""What every room uses: files that appear whole, locks, near names, spans of time, compiling."""
