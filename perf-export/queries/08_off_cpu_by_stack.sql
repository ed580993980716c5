-- Where do threads wait? Nanoseconds off the CPU by the innermost function of the stack at which they left it.
SELECT coalesce(f.function, '[unknown]') AS function_name, count(*) AS waits, sum(w.duration) AS duration
FROM switches w
LEFT JOIN stacks k ON k.capture = w.capture AND k.stack_id = w.stack_id
LEFT JOIN frames f ON f.capture = k.capture AND f.frame_id = k.leaf
WHERE NOT w.is_preempted
GROUP BY coalesce(f.function, '[unknown]')
ORDER BY duration DESC, function_name
LIMIT 30
