"""Compares how two deployments behave, and says whose fault each difference is."""
