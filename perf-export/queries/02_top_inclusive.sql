-- Which functions are in the stacks of the most samples? A function counts once for a stack, however often it is in it.
WITH counted AS (
    SELECT capture, event, stack_id, sum(period) AS period
    FROM samples
    GROUP BY capture, event, stack_id
),
framed AS (
    SELECT capture, stack_id, unnest(frame_ids) AS frame_id
    FROM stacks
),
once AS (
    SELECT DISTINCT a.capture, a.stack_id, f.function AS function_name
    FROM framed a
    JOIN frames f ON f.capture = a.capture AND f.frame_id = a.frame_id
    WHERE f.function IS NOT NULL
)
SELECT c.event, o.function_name, sum(c.period) AS period
FROM once o
JOIN counted c ON c.capture = o.capture AND c.stack_id = o.stack_id
GROUP BY c.event, o.function_name
ORDER BY period DESC, event, function_name
LIMIT 30
