"""Small servers: the page on which to annotate, and UDPipe's REST interface. They need the extra `annotate`."""

__all__: list[str] = []
