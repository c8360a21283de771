#!lua flags=allow-oom
-- All of a node's people on a topic, in place of those that were there.
-- KEYS: leases, the node's people on the topic, the node's topics. ARGV: node, topic, version, channel, what to tell,
-- milliseconds to keep the version of nobody, and ref and person of each.
-- Returns 0 if the node's lease does not stand.
if not redis.call('ZSCORE', KEYS[1], ARGV[1]) then
  return 0
end
redis.call('DEL', KEYS[2])
redis.call('HSET', KEYS[2], 'v', ARGV[3])
for at = 7, #ARGV - 1, 2 do
  redis.call('HSET', KEYS[2], ARGV[at], ARGV[at + 1])
end
if #ARGV > 6 then
  redis.call('SADD', KEYS[3], ARGV[2])
else
  redis.call('PEXPIRE', KEYS[2], ARGV[6])
  redis.call('SREM', KEYS[3], ARGV[2])
end
redis.call('PUBLISH', ARGV[4], ARGV[5])
return 1
