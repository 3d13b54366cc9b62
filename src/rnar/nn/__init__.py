"""The model in plain PyTorch, as the papers write it.

encoders      features -> vectors of nodes, edges and the graph
aggregators   what a node makes of the messages that are sent to it: Max, LSTM, ...
processors/   one step: message passing with triplets and a gate, ForgetNet, the Relational Transformer
decoders      vectors -> logits of hints and outputs
reasoner      all steps of a batch, and what it costs
"""

from rnar.nn.aggregators import GRU, LSTM, Aggregator, BinaryGRU, Count, Janossy, Max, Mean, Shuffled, Sum
from rnar.nn.auxiliary import auxiliary_loss
from rnar.nn.graph import Graph
from rnar.nn.heads import HintConfig
from rnar.nn.linear import Linear
from rnar.nn.processors.message_passing import MessagePassing
from rnar.nn.processors.processor import ProcessorOutput
from rnar.nn.reasoner import Prediction, Reasoner

__all__ = [
    "GRU",
    "LSTM",
    "Aggregator",
    "BinaryGRU",
    "Count",
    "Graph",
    "HintConfig",
    "Janossy",
    "Linear",
    "Max",
    "Mean",
    "MessagePassing",
    "Prediction",
    "ProcessorOutput",
    "Reasoner",
    "Shuffled",
    "Sum",
    "auxiliary_loss",
]
