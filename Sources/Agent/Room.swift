// Room Agent.
