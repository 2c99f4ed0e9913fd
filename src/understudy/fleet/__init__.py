"""Stores worlds in a Valkey or Redis server that the replicas of a fleet share."""
