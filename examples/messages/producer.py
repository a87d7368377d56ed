"""Writes orders to a stream and print jobs to a list: a program that knows nothing of dtq.

    python3 producer.py redis://127.0.0.1:6379 10
"""

import json
import sys

import redis


def main() -> None:
    url, count = sys.argv[1], int(sys.argv[2])
    server = redis.Redis.from_url(url)
    for number in range(1, count + 1):
        order = {"id": number, "customer": f"customer-{number % 3}", "cents": number * 100}
        # Fields that begin with "h:" are headers; the other one is the payload, whatever its name.
        server.xadd("orders", {"data": json.dumps(order), "h:source": "producer.py"})
        server.lpush("print.jobs", f"label {number}")
    # What goes wrong now and then.
    server.xadd("orders", {"data": "this is no JSON"})
    server.xadd("orders", {"data": json.dumps({"id": 0, "customer": "nobody", "cents": 0})})
    server.lpush("print.jobs", "paper jam")
    print(f"{count + 2} orders and {count + 1} print jobs written")


if __name__ == "__main__":
    main()
