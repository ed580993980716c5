-- What does the code of each source file cost, inlined functions as code of their own file?
WITH counted AS (
    SELECT capture, event, stack_id, sum(period) AS period
    FROM samples
    GROUP BY capture, event, stack_id
)
SELECT c.event, coalesce(f.file, '[unknown]') AS file,
    sum(CASE WHEN f.inline_depth > 0 THEN c.period ELSE 0 END) AS inlined, sum(c.period) AS period
FROM counted c
JOIN stacks k ON k.capture = c.capture AND k.stack_id = c.stack_id
JOIN frames f ON f.capture = k.capture AND f.frame_id = k.leaf
GROUP BY c.event, coalesce(f.file, '[unknown]')
ORDER BY period DESC, event, file
LIMIT 30
