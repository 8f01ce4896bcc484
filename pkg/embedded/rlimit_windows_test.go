package embedded_test

func idleConnections() int { return 2000 }
