-- Which functions have the most samples at their own addresses, over all captures?
WITH counted AS (
    SELECT capture, event, stack_id, sum(period) AS period, count(*) AS samples
    FROM samples
    GROUP BY capture, event, stack_id
)
SELECT c.event, coalesce(f.function, '[unknown]') AS function_name, coalesce(d.name, '[unknown]') AS dso,
    sum(c.period) AS period, sum(c.samples) AS samples
FROM counted c
JOIN stacks k ON k.capture = c.capture AND k.stack_id = c.stack_id
JOIN frames f ON f.capture = k.capture AND f.frame_id = k.leaf
LEFT JOIN dsos d ON d.capture = f.capture AND d.dso_id = f.dso_id
GROUP BY c.event, coalesce(f.function, '[unknown]'), coalesce(d.name, '[unknown]')
ORDER BY period DESC, event, function_name, dso
LIMIT 30
