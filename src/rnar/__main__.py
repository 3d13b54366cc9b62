"""`python -m rnar` is `rnar`."""

import sys

from rnar.cli.main import main

sys.exit(main())
