"""What a consumer client remembers and where it starts (OFF-*, START-*)."""
