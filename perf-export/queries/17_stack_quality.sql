-- How good are the stacks of each host, in thousandths?
SELECT hostname, sum(samples) AS samples,
    CAST(round(sum(stacks_rooted) * 1000.0 / sum(stacks)) AS BIGINT) AS rooted,
    CAST(round(sum(frames_mapped) * 1000.0 / sum(frames)) AS BIGINT) AS mapped,
    CAST(round(sum(frames_named) * 1000.0 / sum(frames)) AS BIGINT) AS named
FROM captures
WHERE stacks > 0 AND frames > 0
GROUP BY hostname
ORDER BY hostname
