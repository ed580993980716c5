-- Which lines are hot?
WITH counted AS (
    SELECT capture, stack_id, sum(period) AS period
    FROM samples
    GROUP BY capture, stack_id
)
SELECT f.file, f.line, f.function AS function_name, sum(c.period) AS period
FROM counted c
JOIN stacks k ON k.capture = c.capture AND k.stack_id = c.stack_id
JOIN frames f ON f.capture = k.capture AND f.frame_id = k.leaf
WHERE f.line IS NOT NULL
GROUP BY f.file, f.line, f.function
ORDER BY period DESC, file, line, function_name
LIMIT 30
