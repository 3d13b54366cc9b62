"""Many runs, tasks x models x seeds: planned and carried out on this machine or on a Ray cluster.

presets.py       the tables of the paper, and a quick one
plan.py          the runs that the words of a command line name, and how far each one is
engine.py        how runs share the cores; an engine that trains them on this machine
process.py       one run: `rnar train` as a subprocess
ray.py           an engine that starts these processes on the nodes of a Ray cluster
conduct.py       trains one run after the other until all are done, and shows the progress
"""
