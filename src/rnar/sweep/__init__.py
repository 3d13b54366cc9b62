"""Many runs, tasks x models x seeds: planned and carried out on this machine or on a Ray cluster.

choosing.py      tasks, models and seeds from words: `sequential`, `rnar*`, `0-4`
presets.py       the tables of the paper, and a quick one
plan.py          the runs of a sweep, and how far each one is
allocation.py    how many runs at a time, with how many threads each
conduct.py       starts one run after the other until all are done
process.py       one run: `rnar train` in a process of its own
local.py         the engine that starts these processes on this machine
ray.py           the engine that starts them on the nodes of a Ray cluster
display.py       the plan, the progress, and what failed
"""
