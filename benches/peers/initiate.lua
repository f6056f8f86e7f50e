-- The load of the no-op handler and of Till, for wrk: the same requests, made from the same file.
--
--   wrk -t THREADS -c CONNECTIONS -d SECONDS -s initiate.lua URL -- FILE THREADS once|again
--
-- FILE has a line with key and session for each payment; the threads take turns in it. With `once` a thread that has
-- used its last session ends the run, with `again` it starts over.

local threads = {}
local requests = {}
local position = 0
local again = false
ran_out = false

local HEAD = "POST /merchants/initiate-payment-flow HTTP/1.1\r\nHost: till\r\nContent-Type: application/json\r\n"
local BODY = '{"external_id":"order-%s","amount":10000,"currency":"THB","payment_session_id":"%s",'
    .. '"capture":true,"return_url":"https://shop.example/done"}'

function setup(thread)
    thread:set("number", #threads)
    table.insert(threads, thread)
end

function init(args)
    local count = tonumber(args[2])
    again = args[3] == "again"
    local line_number = 0
    for line in io.lines(args[1]) do
        if line_number % count == number then
            local key, session = line:match("^(%S+) (%S+)$")
            local body = BODY:format(session, session)
            table.insert(requests, table.concat({
                HEAD, "Authorization: Bearer ", key, "\r\nContent-Length: ", #body, "\r\n\r\n", body,
            }))
        end
        line_number = line_number + 1
    end
end

function request()
    position = position + 1
    if position > #requests then
        position = 1
        if not again then
            ran_out = true
            wrk.thread:stop()
        end
    end
    return requests[position]
end

function done(summary, latency, _)
    local out = false
    for _, thread in ipairs(threads) do
        out = out or thread:get("ran_out")
    end
    local errors = summary.errors
    print(string.format(
        'result {"answers": %d, "micros": %d, "p50_micros": %d, "p99_micros": %d, "failed": %d, "ran_out": %s}',
        summary.requests, summary.duration, latency:percentile(50), latency:percentile(99),
        errors.status + errors.connect + errors.read + errors.write + errors.timeout, tostring(out)))
end
