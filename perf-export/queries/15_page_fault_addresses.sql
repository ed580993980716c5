-- Which pages of 4 KiB fault most? Needs perf record -d -e page-faults.
SELECT comm, CAST(floor(addr / 4096.0) AS BIGINT) AS page, count(*) AS faults
FROM samples
WHERE addr IS NOT NULL AND addr <> 0 AND event LIKE '%fault%'
GROUP BY comm, CAST(floor(addr / 4096.0) AS BIGINT)
ORDER BY faults DESC, comm, page
LIMIT 30
