-- How long do threads that could run wait for a CPU? Percentiles of the times for which they were preempted.
SELECT a.hostname, count(*) AS waits,
    CAST(floor(percentile_cont(0.5) WITHIN GROUP (ORDER BY w.duration)) AS BIGINT) AS median,
    CAST(floor(percentile_cont(0.99) WITHIN GROUP (ORDER BY w.duration)) AS BIGINT) AS p99,
    max(w.duration) AS longest
FROM switches w
JOIN captures a ON a.capture = w.capture
WHERE w.is_preempted
GROUP BY a.hostname
ORDER BY hostname
