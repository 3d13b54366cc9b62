"""Where the processes of a sweep are started."""
