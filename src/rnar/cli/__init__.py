"""The commands of `rnar`, one file each; `rnar.cli.main.COMMANDS` names them."""
