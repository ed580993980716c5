-- Which hosts lack symbols for what? Frames without a name, by the file that they are in and why it has no names.
SELECT a.hostname, coalesce(d.path, '[no mapping]') AS path, coalesce(d.build_id, '') AS build_id,
    coalesce(d.status, '') AS status, count(*) AS frames
FROM frames f
JOIN captures a ON a.capture = f.capture
LEFT JOIN dsos d ON d.capture = f.capture AND d.dso_id = f.dso_id
WHERE f.function IS NULL
GROUP BY a.hostname, coalesce(d.path, '[no mapping]'), coalesce(d.build_id, ''), coalesce(d.status, '')
ORDER BY frames DESC, hostname, path, build_id, status
LIMIT 30
