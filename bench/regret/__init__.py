"""The regret of chosen plans and the q-errors of their estimates: ``python -m bench.regret``."""
