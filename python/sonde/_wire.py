"""The few bytes of protobuf that the package writes itself."""
from typing import Any


def varint(number: int) -> bytes:
    """A number from 0 to 2^64.

    >>> varint(300)
    b'\\xac\\x02'
    """
    encoded = b""
    while number > 127:
        encoded += bytes([number & 127 | 128])
        number >>= 7
    return encoded + bytes([number])


def field(number: int, content: bytes) -> bytes:
    """A field of bytes, text or a message.

    >>> field(1, b"lr")
    b'\\n\\x02lr'
    """
    return varint(number << 3 | 2) + varint(len(content)) + content


def number_field(number: int, value: int) -> bytes:
    """A field of an int64.

    >>> number_field(2, 3)
    b'\\x10\\x03'
    """
    return varint(number << 3) + varint(value & 0xFFFF_FFFF_FFFF_FFFF)


def serialized(message: Any, argument: str) -> bytes:
    """The bytes of a message, whatever holds them: the message, bytes, an array or a tensor of one string.

    >>> serialized(b"lr", "summary")
    b'lr'
    """
    if hasattr(message, "SerializeToString"):
        return message.SerializeToString()
    if hasattr(message, "numpy"):
        message = message.numpy()
    if hasattr(message, "item"):
        message = message.item()
    if not isinstance(message, bytes):
        raise TypeError(f"{argument} must be a protobuf message or its bytes, not {type(message).__name__}")
    return message
