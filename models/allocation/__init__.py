"""Which queues a member of a consumer group gets (ALLOC-*)."""
