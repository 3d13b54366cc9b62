"""Small tensors are slower with several threads, and far slower where the machine has other work."""

import torch

torch.set_num_threads(1)
