#!lua flags=allow-oom
-- What the orders of this server have in common: their epoch, and the newest offset of them all (`stamp`).
-- A server that starts again without its newest loses what somebody was told is kept. Who knows of such an offset from
-- an earlier run of the server is a witness, and then the orders begin anew, in another epoch.
-- KEYS: marks. ARGV: this run of the server, a new epoch, and the witness's: epoch, offset, run.
local known = redis.call('HMGET', KEYS[1], 'epoch', 'run', 'loaded', 'stamp')
local epoch, run, loaded, stamp = known[1], known[2], known[3] or '0', known[4] or '0'
if not epoch then
  epoch = ARGV[2]
end
if run ~= ARGV[1] then
  loaded = stamp
end
if ARGV[3] == epoch and ARGV[5] ~= ARGV[1] and tonumber(ARGV[4]) > tonumber(loaded) then
  epoch = ARGV[2]
end
redis.call('HSET', KEYS[1], 'epoch', epoch, 'run', ARGV[1], 'loaded', loaded, 'stamp', stamp)
return epoch
