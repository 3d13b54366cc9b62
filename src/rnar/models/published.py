"""The models of papers: RNAR, its ablations, and the systems it is compared with."""

from rnar.models.makers import message_passing, triplet_gmpnn
from rnar.models.recipe import Model, Paper
from rnar.models.registry import register
from rnar.nn.aggregators import GRU, LSTM, BinaryGRU, Janossy, Max
from rnar.nn.heads import HintConfig
from rnar.nn.processors.forgetnet import ForgetNet, GatedForgetNet
from rnar.nn.processors.message_passing import MessagePassing
from rnar.nn.processors.relational_transformer import RelationalTransformer

MPNN = register(
    Model(
        "mpnn",
        message_passing(Max),
        paper=Paper("Gilmer et al.", 2017, "Neural message passing for quantum chemistry"),
        equation="h_j' = LayerNorm(relu(O1 z_j + O2 max_i m_ij)), i over all nodes",
        differs="As the benchmark builds it (Veličković et al., 2022), which trained it with teacher forcing.",
    )
)
register(
    MPNN,
    name="pgn",
    processor=message_passing(Max, along_edges=True),
    paper=Paper("Veličković et al.", 2020, "Pointer graph networks"),
    equation="h_j' = LayerNorm(relu(O1 z_j + O2 max_i m_ij)), i over j and what pointers or edges join to it",
    differs="As the benchmark builds it (Veličković et al., 2022); the original learns to mask nodes as well.",
)
TRIPLET_GMPNN = register(
    MPNN,
    name="triplet-gmpnn",
    processor=triplet_gmpnn(Max),
    reversal="mask",
    paper=Paper("Ibarz et al.", 2022, "A generalist neural algorithmic learner"),
    equation="mpnn with a gate, h_j' <- g_j h_j' + (1 - g_j) h_j, and max_a t_abc of triplets for its decoders",
    differs="Has the hint reversal of Bevilacqua et al. (2023), as the baseline of RNAR; its own paper has none.",
)
RNAR = register(
    TRIPLET_GMPNN,
    name="rnar",
    processor=triplet_gmpnn(LSTM),
    paper=Paper("Xu and Veličković", 2024, "Recurrent aggregators in neural algorithmic reasoning"),
    equation="triplet-gmpnn with LSTM(m_1j, ..., m_nj), its last output, in place of max_i m_ij",
    differs="Has triplets in all 30 tasks; the paper ran out of memory on four and used rnar-mpnn there.",
)
register(
    RNAR,
    name="rnar-mpnn",
    processor=message_passing(LSTM),
    reversal="none",
    equation="mpnn with LSTM(m_1j, ..., m_nj) in place of max_i m_ij",
    differs="The paper does not say that it has no hint reversal; its score on DFS, 6.78 beside 100.00, does.",
)
register(
    RNAR,
    name="rnar-nope",
    without=("pos",),
    equation="rnar that is not given the input pos; the LSTM still reads in node order",
    differs="The paper does not say how pos is withheld; here it is not encoded.",
)
for k in (1, 2, 3):
    register(
        RNAR,
        name=f"rnar-janossy-{k}",
        processor=triplet_gmpnn(lambda size, k=k: Janossy(LSTM(size), k)),
        equation=f"rnar with the mean over {k} random order{'s' * (k > 1)} p of LSTM(m_p(1)j, ..., m_p(n)j)",
        differs="The paper does not say who shares an order; here all nodes of a batch do, for one step.",
    )
register(
    RNAR,
    name="rnar-gru",
    processor=triplet_gmpnn(GRU),
    equation="rnar with a GRU in place of the LSTM",
    differs="Not in the paper: the same with a gate less.",
)
register(
    RNAR,
    name="rnar-binary-gru",
    processor=triplet_gmpnn(BinaryGRU),
    paper=Paper("Ong and Veličković", 2022, "Learnable commutative monoids for graph neural networks"),
    equation="rnar with a balanced tree of x + y = (GRU(x, y) + GRU(y, x)) / 2 over m_1j, ..., m_nj",
    differs="RNAR's paper suggests it and did not try; messages are not shuffled, no loss asks for associativity.",
)
register(
    Model(
        "rt",
        RelationalTransformer,
        size=192,
        order_as_hint=True,
        permutations_as_pointers=True,
        hints=HintConfig(hard=True, teacher=0.5),
        xavier_on_scalars=False,
        # sizes as the official sets count: string matchers have 20 letters then
        training=dict(
            learning_rate=2.5e-4,
            batch=4,
            clip=None,
            steps=80_000,
            sizes=(16,),
            random_positions=False,
            validate_every=80,
        ),
        paper=Paper(
            "Diao and Loynd", 2023, "Relational attention: generalizing transformers for graph-structured tasks"
        ),
        equation="3 layers of n_i += attention to n_j and s_ij over j, s_ij += MLP(s_ij || s_ji || n_j || n_i)",
        differs="No difference of the network is known; its authors drew batches from 10,000 fixed samples.",
    )
)
FORGETNET = register(
    MPNN,
    name="forgetnet",
    processor=lambda size: ForgetNet(MessagePassing(size, Max(size), triplets=8)),
    paper=Paper("Bohde et al.", 2024, "On the Markov property of neural algorithmic reasoning: analyses and methods"),
    equation="triplet-gmpnn without gate and history: z = x",
    differs="No code was published: that decoders do not see the last state, and that no gate is left, is chosen.",
)
register(
    FORGETNET,
    name="g-forgetnet",
    processor=lambda size: GatedForgetNet(MessagePassing(size, Max(size), triplets=8), size),
    equation="forgetnet with z = x || g h, g = sigmoid(MLP(x || h)), a loss of alpha mean(g), alpha from 0 to 1",
    differs="No code was published: the gate's network, its start half open, and the mean as a norm are chosen.",
)
