-- Which hosts lose samples, and what else is missing?
SELECT a.hostname, l.what, sum(l.count) AS events, sum(coalesce(l.bytes, 0)) AS bytes
FROM losses l
JOIN captures a ON a.capture = l.capture
GROUP BY a.hostname, l.what
ORDER BY events DESC, hostname, what
LIMIT 30
