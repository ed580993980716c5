-- How much of the samples of each host is in the kernel?
SELECT a.hostname, s.event, sum(CASE WHEN s.mode = 'kernel' THEN 1 ELSE 0 END) AS in_kernel, count(*) AS samples
FROM samples s
JOIN captures a ON a.capture = s.capture
GROUP BY a.hostname, s.event
ORDER BY hostname, event
