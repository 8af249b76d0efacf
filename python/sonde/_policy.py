"""Policies as the library takes them: TOML, whatever they were written as."""
import os
from typing import Any


def policy_text(policy: Any) -> tuple[str | None, str]:
    """The TOML of a policy and the name of its source in messages.

    A policy is a path (os.PathLike, or a str that ends with .toml), TOML as a str, or a dict with the same keys.

    >>> policy_text('[[watch]]\\nevery = 10')
    ('[[watch]]\\nevery = 10', 'policy')
    >>> policy_text({"watch": [{"tensors": "conv.*", "every": 10}]})[0]
    '[[watch]]\\ntensors = "conv.*"\\nevery = 10\\n\\n'
    """
    if policy is None:
        return None, "policy"
    if isinstance(policy, dict):
        return to_toml(policy), "policy"
    if isinstance(policy, str) and ("\n" in policy or not policy.endswith(".toml")):
        return policy, "policy"
    try:
        path = os.fspath(policy)
    except TypeError:
        raise TypeError(f"policy must be a path, TOML as a str, or a dict, not {type(policy).__name__}") from None
    with open(path, encoding="utf-8") as file:
        return file.read(), os.fsdecode(path)


def to_toml(policy: dict[str, Any]) -> str:
    """A dict as the TOML of a policy: tables, and arrays of tables.

    >>> print(to_toml({"budget": {"overhead": "1%"}}), end="")
    [budget]
    overhead = "1%"
    <BLANKLINE>
    """
    text = ""
    for name, value in policy.items():
        tables = value if isinstance(value, (list, tuple)) else [value]
        for table in tables:
            if not isinstance(table, dict):
                raise TypeError(f"policy['{name}'] must be a dict or a list of dicts, not {type(value).__name__}")
            text += f"[[{name}]]\n" if tables is value else f"[{name}]\n"
            text += "".join(f"{_text(key)[1:-1]} = {_value(each, f'{name}.{key}')}\n" for key, each in table.items()) + "\n"
    return text


def _text(text: str) -> str:
    escaped = "".join(c if c >= " " and c not in '"\\' else f"\\u{ord(c):04x}" for c in text)
    return f'"{escaped}"'


def _value(value: Any, where: str) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return repr(value)
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(_value(each, where) for each in value) + "]"
    raise TypeError(f"policy: {where} must be a number, a str, a bool or a list of them, not {type(value).__name__}")
