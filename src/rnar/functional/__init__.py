"""Operations with the signature of the plain expression, few in a file.

Each has the plain expression, which runs on any device with ordinary autograd, and where that is worth it a kernel for
CPUs, compiled, with its gradient: one pass over the large tensors, no copies. Which one ran, nobody needs to know; the
tests compare the two. `rnar.functional.compiled.plain()` switches the kernels off.
"""

from rnar.functional.affine import Affine as Affine
from rnar.functional.affine import Edges as Edges
from rnar.functional.affine import Features as Features
from rnar.functional.affine import ReLU as ReLU
from rnar.functional.affine import beside as beside
from rnar.functional.affine import computed as computed
from rnar.functional.affine import is_plain as is_plain
from rnar.functional.affine import lazy as lazy
from rnar.functional.affine import linear as linear
from rnar.functional.affine import linears as linears
from rnar.functional.affine import side_by_side as side_by_side
from rnar.functional.lstm import lstm as lstm
from rnar.functional.lstm import lstm_states as lstm_states
from rnar.functional.max_dot import max_dot as max_dot
from rnar.functional.max_dot import max_dot_triples as max_dot_triples
from rnar.functional.max_over_senders import max_over_senders as max_over_senders
from rnar.functional.max_triplets import max_triplets as max_triplets
from rnar.functional.pair_mlp import pair_mlp as pair_mlp
from rnar.functional.relu import linear_relu as linear_relu
from rnar.functional.triples import max_plus_triples as max_plus_triples
from rnar.functional.triples import relu_dot_triples as relu_dot_triples
