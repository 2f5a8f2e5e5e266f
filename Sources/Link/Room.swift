// Room Link.
