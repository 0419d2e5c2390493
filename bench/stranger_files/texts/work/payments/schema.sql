-- Payments and refunds.
CREATE TABLE payment (
    id          BIGINT PRIMARY KEY,
    order_id    TEXT NOT NULL,
    amount      INTEGER NOT NULL CHECK (amount > 0), -- cents
    currency    CHAR(3) NOT NULL,
    state       TEXT NOT NULL CHECK (state IN ('pending', 'captured', 'declined', 'refunded')),
    created_at  TIMESTAMPTZ NOT NULL DEFAULT now()
);
CREATE UNIQUE INDEX payment_idempotent ON payment (order_id, amount) WHERE state <> 'declined';

CREATE TABLE refund (
    id          BIGINT PRIMARY KEY,
    payment_id  BIGINT NOT NULL REFERENCES payment (id),
    reason      TEXT NOT NULL,
    approved_by TEXT
);
