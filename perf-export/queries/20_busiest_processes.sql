-- Which processes have the most samples, with what they were started as and when?
SELECT a.hostname, p.pid, p.comm, p.parent_pid, p.threads, p.execs, p.samples
FROM processes p
JOIN captures a ON a.capture = p.capture
WHERE p.samples > 0
ORDER BY p.samples DESC, hostname, pid, comm
LIMIT 30
