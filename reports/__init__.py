"""Reports: a stream of events in; console, JSON Lines, JUnit, HTML and Markdown out. Imports no other room."""
