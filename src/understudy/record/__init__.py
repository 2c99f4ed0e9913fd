"""Stands between an app and a deployment: passes requests on, judges and records what passes."""
