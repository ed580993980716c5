-- What did counters count in all? The last value of each counter that samples read, and all of perf stat.
SELECT a.hostname, c.source, c.event, count(*) AS readings, sum(coalesce(c.delta, c.value)) AS value
FROM counts c
JOIN captures a ON a.capture = c.capture
GROUP BY a.hostname, c.source, c.event
ORDER BY hostname, source, event
LIMIT 30
