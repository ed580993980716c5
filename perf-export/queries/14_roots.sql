-- Under which first function, such as that of a program or of a thread, is the time of each function?
WITH counted AS (
    SELECT capture, stack_id, sum(period) AS period
    FROM samples
    GROUP BY capture, stack_id
)
SELECT leaf.function AS function_name, coalesce(root.function, '[unknown]') AS root, sum(c.period) AS period
FROM counted c
JOIN stacks k ON k.capture = c.capture AND k.stack_id = c.stack_id
JOIN frames leaf ON leaf.capture = k.capture AND leaf.frame_id = k.leaf
JOIN frames root ON root.capture = k.capture AND root.frame_id = k.root
WHERE leaf.function IS NOT NULL
GROUP BY leaf.function, coalesce(root.function, '[unknown]')
ORDER BY period DESC, function_name, root
LIMIT 30
