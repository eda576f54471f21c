"""The version of a campaign's tables, for those who name it without having PyArrow."""

#: New columns may come without a new version; anything else raises it.
VERSION = 1
