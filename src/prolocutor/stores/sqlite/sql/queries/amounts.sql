-- name: amount
SELECT amount FROM amounts WHERE kind = ? AND user = ? AND name = ? AND period = ?;

-- name: add_amount
INSERT INTO amounts (kind, user, name, period, amount, number) VALUES (?, ?, ?, ?, ?, ?)
ON CONFLICT DO UPDATE SET amount = amount + excluded.amount, number = number + excluded.number
RETURNING amount;

-- name: amounts_between
SELECT kind, user, name, period, amount, number FROM amounts
WHERE kind = ? AND period BETWEEN ? AND ? ORDER BY period, user, name;

-- name: all_amounts
SELECT kind, user, name, period, amount, number FROM amounts ORDER BY kind, period, user, name;

-- name: delete_all_amounts
DELETE FROM amounts;

-- name: delete_amounts
DELETE FROM amounts WHERE kind = ? AND period < ?;

-- name: keep_amounts_of_nobody
INSERT INTO amounts (kind, user, name, period, amount, number)
SELECT kind, '', name, period, amount, number FROM amounts WHERE user = ? AND kind = 'spent'
ON CONFLICT DO UPDATE SET amount = amount + excluded.amount, number = number + excluded.number;

-- name: delete_amounts_of
DELETE FROM amounts WHERE user = ?;
