"""What the package raises and warns with."""


class RecordingWarning(UserWarning):
    """Something could not be recorded: what happened, to which tensor or file, what to do."""
