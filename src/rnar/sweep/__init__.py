"""Many runs, tasks x models x seeds: planned and carried out on this machine or on a Ray cluster.

choosing.py      tasks, models and seeds from words: `sequential`, `rnar*`, `0-4`
presets.py       the tables of the paper, and a quick one
plan.py          the runs of a sweep, and how far each one is
allocation.py    how many runs at a time, with how many threads each
conduct.py       trains one run after the other until all are done
process.py       one run: `rnar train` as a subprocess
local.py         an engine: these processes on this machine
ray.py           an engine: the same on the nodes of a Ray cluster
display.py       the plan and the progress in a terminal or a log
"""
