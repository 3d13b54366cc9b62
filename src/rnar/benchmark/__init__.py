"""How fast a network is on this machine, and against dm-clrs in the same run."""
