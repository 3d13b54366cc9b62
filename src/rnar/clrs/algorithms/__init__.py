"""The 30 algorithms of CLRS-30, a file for each chapter. Importing this package fills `rnar.clrs.ALGORITHMS`."""

import importlib
import pkgutil

for chapter in sorted(module.name for module in pkgutil.iter_modules(__path__)):
    importlib.import_module(f"{__name__}.{chapter}")
