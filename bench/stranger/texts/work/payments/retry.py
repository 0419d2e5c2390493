"""Retries for the payment gateway."""

import random
import time

MAX_ATTEMPTS = 5
BASE_DELAY = 0.4  # seconds


class GatewayTimeout(Exception):
    """The gateway did not answer in time; the payment may or may not have gone through."""


def with_backoff(call, *, sleep=time.sleep):
    """Call the gateway again with exponential backoff and full jitter.

    Only timeouts are tried again: a declined card is final.
    """
    for attempt in range(MAX_ATTEMPTS):
        try:
            return call()
        except GatewayTimeout:
            if attempt == MAX_ATTEMPTS - 1:
                raise
            sleep(random.uniform(0, BASE_DELAY * 2**attempt))


def idempotency_key(order_id, amount_cents):
    """The same order and amount always give the same key, so a repeated charge is refused."""
    return f"{order_id}:{amount_cents}"
