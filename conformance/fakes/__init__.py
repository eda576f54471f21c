"""The fake broker and name server, whose answers come from the models."""
