"""Makes cases into files of other tools, and sends them."""
