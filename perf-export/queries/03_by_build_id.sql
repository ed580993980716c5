-- Which code is hot on how many hosts? Functions meet by the build id of their file, whatever path it has on each host.
WITH counted AS (
    SELECT capture, stack_id, sum(period) AS period
    FROM samples
    GROUP BY capture, stack_id
)
SELECT d.build_id, coalesce(f.function, '[unknown]') AS function_name, count(DISTINCT a.hostname) AS hosts,
    sum(c.period) AS period
FROM counted c
JOIN stacks k ON k.capture = c.capture AND k.stack_id = c.stack_id
JOIN frames f ON f.capture = k.capture AND f.frame_id = k.leaf
JOIN dsos d ON d.capture = f.capture AND d.dso_id = f.dso_id
JOIN captures a ON a.capture = c.capture
WHERE d.build_id IS NOT NULL
GROUP BY d.build_id, coalesce(f.function, '[unknown]')
ORDER BY period DESC, build_id, function_name
LIMIT 30
