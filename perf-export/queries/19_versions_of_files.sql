-- Which files run in several versions? The build ids of a path and the number of hosts.
SELECT d.path, count(DISTINCT d.build_id) AS versions, count(DISTINCT a.hostname) AS hosts
FROM dsos d
JOIN captures a ON a.capture = d.capture
WHERE d.build_id IS NOT NULL
GROUP BY d.path
ORDER BY versions DESC, hosts DESC, path
LIMIT 30
