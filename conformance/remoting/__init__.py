"""The RocketMQ remoting protocol: frames, codes, a client and a server."""
