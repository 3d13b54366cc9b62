"""Many runs: tasks x models x seeds, planned, estimated, and carried out on this machine or on a Ray cluster.

choosing.py      tasks, models and seeds from words: `sequential`, `rnar*`, `0-4`
presets.py       the tables of the paper, and a quick one
plan.py          the runs of a sweep, and how far each one is
estimate.py      how long they take and how much memory they need, estimated from a short measurement
layout.py        how many runs at a time, with how many threads each
job.py           what is done in a process of its own: one run, or one measurement
child.py         such a process, as seen by whoever started it
conduct.py       starts one run after the other until all are done
engines/         where the processes are started: here, or by Ray
display.py       what is shown: the plan, the progress, what failed
"""
