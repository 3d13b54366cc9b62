"""Networks and data to and from other libraries, none of which has to be installed before it is used.

reasoner = load_dm_clrs("best.pkl", tasks=["bfs"], model="triplet-gmpnn")   # a checkpoint of dm-clrs
save_dm_clrs(reasoner, "ours.pkl")                                          # one that dm-clrs restores
feedback = to_feedback(rnar.clrs.sample("bfs", n=16, batch=32, seed=0))     # what a sampler of dm-clrs gives
graphs = to_networkx(rnar.clrs.sample("dijkstra", n=16, batch=4, seed=0))   # one networkx graph a sample
data = to_pyg(rnar.clrs.sample("dijkstra", n=16, batch=4, seed=0))          # one torch_geometric Data a sample
"""

from rnar.interop.checkpoints import read_parameters
from rnar.interop.data import to_feedback, to_networkx, to_pyg
from rnar.interop.networks import load_dm_clrs, save_dm_clrs

__all__ = ["load_dm_clrs", "read_parameters", "save_dm_clrs", "to_feedback", "to_networkx", "to_pyg"]
