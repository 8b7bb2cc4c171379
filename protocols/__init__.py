"""Wire codecs, both roles, and the device events they yield. No port, no clock, nothing of meterd."""
