"""What the engine says when it cannot or must not answer."""


class EngineError(Exception):
    """The engine cannot answer; the message tells why in words a user can act on."""


class InputError(EngineError, ValueError):
    """An input lies outside the range in which the formula holds."""

    def __init__(self, name: str, value: object, requirement: str) -> None:
        super().__init__(name, value, requirement)  # all three, so that it pickles
        self.name, self.value, self.requirement = name, value, requirement

    def __str__(self) -> str:
        return f"{self.name} is {self.value}; it must be {self.requirement}."


class NoAnswerError(EngineError):
    """The question has no unique answer, such as an IRR of flows with several sign changes."""
