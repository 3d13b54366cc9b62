"""How good a network is: measures, their sums over samples, intervals, and what is made of them for people."""
