"""A user's model that is wrong: what was expected, and where it stands."""

import sys

import pytest

from helpers.command import refused

FEW = (
    "--steps 2 --validate-every 2 --size 8 --validation-samples 2 --ood-samples 0 --selection-samples 0 "
    "--test-samples 2 --sizes 4"
).split()

AGGREGATOR = """import rnar
class Own(rnar.Aggregator):
    ordered = False
    def forward(self, messages, edges=None, rng=None):
        {body}
mine = rnar.Model("mine", lambda size: rnar.MessagePassing(size, Own(size)))
"""


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    yield tmp_path
    sys.modules.pop("wrong_model", None)


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "import rnar\nmine = rnar.Model('m', lambda size: None)",
            "must be a torch.nn.Module, not None (HERE, line 2)",
        ),
        ("import rnar\nmine = rnar.Model('m', lambda: None)", "is made of a size alone, but too many"),
        (
            AGGREGATOR.format(body="return messages.sum(dim=2).sum(dim=1)"),
            "the aggregator Own makes (",
        ),
        (
            "import rnar\nclass Own: pass\nmine = rnar.Model('m', lambda size: rnar.MessagePassing(size, Own()))",
            "MessagePassing: aggregator must be a Module",
        ),
        (
            "import rnar, torch\nmine = rnar.Model('m', lambda s: rnar.MessagePassing(s, torch.nn.Linear(s, s)))",
            "the model 'm': Linear is no subclass of rnar.Aggregator",
        ),
        (AGGREGATOR.format(body="return messages @ messages[0, 0]"), "HERE, line 5, in forward: RuntimeError: "),
        (
            AGGREGATOR.format(body="return nothing"),
            "HERE, line 5, in forward: NameError: name 'nothing' ",
        ),
        (AGGREGATOR.format(body="a, b = 1, 2, 3"), "HERE, line 5, in forward: too many values to unpack"),
    ],
)
def test_it_is_told_in_one_line(run, folder, text, said, threads):
    (folder / "wrong_model.py").write_text(text)
    code, _, err = run("train", "bfs", "--model", "wrong_model:mine", "--threads", threads, *FEW)
    refused((code, "", err), said.replace("HERE", str(folder / "wrong_model.py")))


def test_the_whole_error_is_shown_if_it_is_wanted(run, folder):
    (folder / "wrong_model.py").write_text(AGGREGATOR.format(body="return nothing"))
    code, _, err = run("train", "bfs", "--model", "wrong_model:mine", "--threads", 1, *FEW, "--traceback")
    assert code == 2
    assert "Traceback (most recent call last)" in err and err.splitlines()[-1].startswith("rnar: ")


def test_a_model_that_ends_the_program_is_named(run, folder):
    (folder / "wrong_model.py").write_text(AGGREGATOR.format(body="raise SystemExit(0)"))
    code, _, err = run("train", "bfs", "--model", "wrong_model:mine", "--threads", 1, *FEW)
    refused((code, "", err), f"{folder / 'wrong_model.py'}, line 5, in forward: your code ends the program")


def test_what_a_module_prints_does_not_stand_in_the_output(run, folder):
    (folder / "wrong_model.py").write_text("import rnar\nprint('HELLO')\nmine = rnar.models.find('mpnn')")
    code, out, err = run("models", "wrong_model:mine")
    assert code == 0 and "HELLO" not in out and "HELLO" in err
