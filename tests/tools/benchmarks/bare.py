"""The limit: an ASGI function that answers a constant, under the server settings of the mock."""

import sys

import uvicorn

BODY = b'{"hash":"' + b"0" * 1000 + b'"}'
START = {
    "type": "http.response.start",
    "status": 200,
    "headers": [
        (b"content-type", b"application/json"),
        (b"content-length", str(len(BODY)).encode()),
    ],
}


async def application(_scope, receive, send):
    while (await receive()).get("more_body"):
        pass
    await send(START)
    await send({"type": "http.response.body", "body": BODY})


if __name__ == "__main__":
    uvicorn.run(
        application,
        port=int(sys.argv[1]),
        interface="asgi3",
        lifespan="off",
        log_config=None,
        access_log=False,
        proxy_headers=False,
        server_header=False,
        ws="none",
    )
