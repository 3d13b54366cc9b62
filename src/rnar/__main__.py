"""`python -m rnar` is `rnar`."""

import sys

from rnar.cli import main

sys.exit(main())
