-- Which cgroups use the CPUs? Needs perf record --all-cgroups.
SELECT coalesce(cgroup, '[not recorded]') AS cgroup_path, event, count(*) AS samples, sum(period) AS period
FROM samples
GROUP BY coalesce(cgroup, '[not recorded]'), event
ORDER BY period DESC, cgroup_path, event
LIMIT 30
