-- Which programs use the CPUs of the fleet, and on how many hosts?
SELECT s.comm, s.event, count(DISTINCT a.hostname) AS hosts, count(*) AS samples, sum(s.period) AS period
FROM samples s
JOIN captures a ON a.capture = s.capture
GROUP BY s.comm, s.event
ORDER BY period DESC, comm, event
LIMIT 30
