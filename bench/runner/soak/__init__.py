"""Ten minutes of everything at once: does the server keep what it should not?"""
