"""Judges what the agents in the guest have published, against what the emulated chips have handed out."""
