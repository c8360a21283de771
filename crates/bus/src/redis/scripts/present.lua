#!lua flags=allow-oom
-- One of a node's people came, went, or changed.
-- KEYS: leases, the node's people on the topic, the node's topics. ARGV: node, topic, version, ref that left or '', ref
-- that joined or '', who joined, channel, what to tell, milliseconds to keep the version of nobody.
-- Returns 0 if the node's lease does not stand.
if not redis.call('ZSCORE', KEYS[1], ARGV[1]) then
  return 0
end
if ARGV[4] ~= '' then
  redis.call('HDEL', KEYS[2], ARGV[4])
end
if ARGV[5] ~= '' then
  redis.call('HSET', KEYS[2], ARGV[5], ARGV[6])
end
redis.call('HSET', KEYS[2], 'v', ARGV[3])
if redis.call('HLEN', KEYS[2]) > 1 then
  redis.call('PERSIST', KEYS[2])
  redis.call('SADD', KEYS[3], ARGV[2])
else
  redis.call('PEXPIRE', KEYS[2], ARGV[9])
  redis.call('SREM', KEYS[3], ARGV[2])
end
redis.call('PUBLISH', ARGV[7], ARGV[8])
return 1
