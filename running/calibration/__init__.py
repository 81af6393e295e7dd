"""Calibration: measures the cost constants on a machine.

In: how much to measure. Out: the constants, how well the formulas fit with them, and the machine.
Start with ``calibrate.py``; ``workloads.py`` has the measured operators, ``fitting.py`` the fit.
"""
