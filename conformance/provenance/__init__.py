"""Where the rules were read: the Java methods that they name, in the published sources of every release."""
