"""The few operations that plain tensor code does in too much memory or too many passes, one a file.

Each is a function of tensors, differentiable, on any device. On the CPU compiled loops do it in one pass over the large
tensors, with no copies; elsewhere plain tensor code does, which stands in the same file. The tests compare the two.
"""

from rnar.ops.gated_norm import gated_norm as gated_norm
from rnar.ops.linear import Gathered as Gathered
from rnar.ops.linear import linear as linear
from rnar.ops.linear_relu import linear_relu as linear_relu
from rnar.ops.lstm import lstm as lstm
from rnar.ops.max_dot import max_dot as max_dot
from rnar.ops.max_dot import max_dot_rectified as max_dot_rectified
from rnar.ops.max_dot_triples import max_dot_triples as max_dot_triples
from rnar.ops.max_of_linear import max_of_linear as max_of_linear
from rnar.ops.max_over_senders import max_over_senders as max_over_senders
from rnar.ops.max_plus_triples import max_plus_triples as max_plus_triples
from rnar.ops.max_triplets import max_triplets as max_triplets
from rnar.ops.narrow_mlp import NARROW as NARROW
from rnar.ops.narrow_mlp import narrow_mlp as narrow_mlp
from rnar.ops.pair_mlp import pair_mlp as pair_mlp
from rnar.ops.relu_dot_triples import relu_dot_triples as relu_dot_triples
