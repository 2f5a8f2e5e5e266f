// Room MiniSEED.
