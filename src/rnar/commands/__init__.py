"""The commands of `rnar`, one file each; `rnar.cli.COMMANDS` names them."""
