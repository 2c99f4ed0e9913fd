"""A proxy between an app and a deployment that judges and records the exchanges it forwards."""
