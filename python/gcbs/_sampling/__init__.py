"""The parts of ``gcbs.BatchSampler``."""
