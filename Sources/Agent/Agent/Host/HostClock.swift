import Threads

typealias HostClock = Threads.HostClock
