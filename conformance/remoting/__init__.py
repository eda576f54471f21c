"""The RocketMQ remoting protocol: frames, headers, a client, and the scripted broker that speaks it."""
