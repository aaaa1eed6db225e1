"""Run the command line as `python -m aircoding`."""

from aircoding.cli.main import main

main()
