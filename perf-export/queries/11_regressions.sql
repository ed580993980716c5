-- Which functions take a larger part on the last day than on the first one, in millionths of all samples?
WITH days AS (
    SELECT min(recorded_on) AS first_day, max(recorded_on) AS last_day FROM captures
),
counted AS (
    SELECT a.recorded_on AS day, s.capture, s.stack_id, count(*) AS samples
    FROM samples s
    JOIN captures a ON a.capture = s.capture
    GROUP BY a.recorded_on, s.capture, s.stack_id
),
by_function AS (
    SELECT c.day, f.function AS function_name, sum(c.samples) AS samples
    FROM counted c
    JOIN stacks k ON k.capture = c.capture AND k.stack_id = c.stack_id
    JOIN frames f ON f.capture = k.capture AND f.frame_id = k.leaf
    WHERE f.function IS NOT NULL
    GROUP BY c.day, f.function
),
totals AS (
    SELECT day, sum(samples) AS samples FROM counted GROUP BY day
),
parts AS (
    SELECT b.function_name,
        sum(CASE WHEN b.day = d.first_day THEN b.samples * 1000000.0 / t.samples ELSE 0.0 END) AS part_before,
        sum(CASE WHEN b.day = d.last_day THEN b.samples * 1000000.0 / t.samples ELSE 0.0 END) AS part_after
    FROM by_function b
    JOIN totals t ON t.day = b.day
    CROSS JOIN days d
    GROUP BY b.function_name
)
SELECT function_name, CAST(round(part_before) AS BIGINT) AS part_before, CAST(round(part_after) AS BIGINT) AS part_after
FROM parts
ORDER BY part_after - part_before DESC, function_name
LIMIT 30
