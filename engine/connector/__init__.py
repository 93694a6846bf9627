"""The one part that opens a connection: to the server that a custodian named, in a process of its own.

It is no part of the offline program: neither its wheel nor its packages contain it, and nothing imports it.
`engine.table.server` starts it where it is there, and speaks to it by pipes. Each kind of server is a file of
the same name as in `engine.table.dialects`. It imports nothing else of the engine. What may be imported here,
and only here, stands in ``tests/test_layout.py``.
"""
