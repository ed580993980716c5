-- Who calls the functions that are at the leaf of the most samples? The second frame of each stack.
WITH counted AS (
    SELECT capture, stack_id, sum(period) AS period
    FROM samples
    GROUP BY capture, stack_id
),
leaves AS (
    SELECT k.capture, k.stack_id, k.leaf, element_at(k.frame_ids, 2) AS caller
    FROM stacks k
    WHERE k.depth > 1
)
SELECT callee.function AS function_name, coalesce(caller.function, '[unknown]') AS caller, sum(c.period) AS period
FROM counted c
JOIN leaves k ON k.capture = c.capture AND k.stack_id = c.stack_id
JOIN frames callee ON callee.capture = k.capture AND callee.frame_id = k.leaf
JOIN frames caller ON caller.capture = k.capture AND caller.frame_id = k.caller
WHERE callee.function IS NOT NULL
GROUP BY callee.function, coalesce(caller.function, '[unknown]')
ORDER BY period DESC, function_name, caller
LIMIT 30
