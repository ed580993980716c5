-- How many samples does each host have in each second of its clock?
SELECT a.hostname, s.event, CAST(floor(s.time / 1000000000.0) AS BIGINT) AS second, count(*) AS samples, sum(s.period) AS period
FROM samples s
JOIN captures a ON a.capture = s.capture
WHERE s.time IS NOT NULL
GROUP BY a.hostname, s.event, CAST(floor(s.time / 1000000000.0) AS BIGINT)
ORDER BY hostname, event, second
LIMIT 100
