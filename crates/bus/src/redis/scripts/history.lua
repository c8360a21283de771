-- Part of a topic's history: what stands above `since`, oldest first; or what stands above it up to `till`, newest
-- first. As much as the bounds let through. What has grown too old goes before: a topic that nobody publishes on is not
-- trimmed otherwise.
-- KEYS: marks, the topic's newest offset, its order. ARGV: 'oldest' or 'newest', since, till, most messages, most bytes,
-- greatest age in microseconds.
-- Returns epoch, newest offset, the offset up to which nothing is kept, the offset at which the bounds cut or '', and
-- offset, previous offset, publication of each.
local marks = redis.call('HMGET', KEYS[1], 'epoch', 'stamp')
if not marks[1] then
  return redis.error_reply('MARKSGONE everything that was kept is gone')
end
local newest = redis.call('GET', KEYS[2]) or marks[2]
local function id(entry)
  return string.match(entry[1], '^%d+')
end
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
redis.call('XTRIM', KEYS[3], 'MINID', '=', string.format('%.0f', math.max(now - ARGV[6], 0)))
local first = redis.call('XRANGE', KEYS[3], '-', '+', 'COUNT', 1)[1]
local answer = { marks[1], newest, first and first[2][2] or newest, '' }
local is_oldest = ARGV[1] == 'oldest'
local low, high = '(' .. ARGV[2], is_oldest and '+' or ARGV[3]
local messages_left, bytes_left = tonumber(ARGV[4]), tonumber(ARGV[5])
while true do
  local entries
  if is_oldest then
    entries = redis.call('XRANGE', KEYS[3], low, high, 'COUNT', 32)
  else
    entries = redis.call('XREVRANGE', KEYS[3], high, low, 'COUNT', 32)
  end
  for _, entry in ipairs(entries) do
    local data = entry[2][4]
    messages_left, bytes_left = messages_left - 1, bytes_left - #data
    local is_over = messages_left < 0 or bytes_left < 0
    -- Who asks for the oldest gets one at least, or would ask for it for ever.
    if is_over and not (is_oldest and #answer == 4) then
      answer[4] = id(entry)
      return answer
    end
    table.insert(answer, id(entry))
    table.insert(answer, entry[2][2])
    table.insert(answer, data)
  end
  if #entries == 0 then
    return answer
  end
  local edge = '(' .. entries[#entries][1]
  if is_oldest then
    low = edge
  else
    high = edge
  end
end
