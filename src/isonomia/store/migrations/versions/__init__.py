"""The steps; `revision` names one, `down_revision` the one before it."""
