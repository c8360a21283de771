"""What tests share that are written in Python: programs, servers under test, and a WebSocket of few words."""
