"""The pages and the API, as a client of the control socket."""
