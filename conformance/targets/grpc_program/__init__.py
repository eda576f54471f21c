"""Programs that are consumers of the gRPC protocol, judged by their calls at a fake proxy."""
