# Puts what the agent publishes into plain words. Input (jq -n): lines of `mosquitto_sub -F %j`.

def rounded($digits): . as $x | pow(10; $digits) as $k | ($x * $k | round) / $k;
def clock: .[11:21];
def strength: "\(rounded(3)) m/s²";
def gravities: "\(. / 9.80665 * 100 | rounded(1)) % of g";
def mercalli: [.intensity[]? | select(.value != null) | "\(.roman // .grade // (.value | rounded(1))) (\(.relation))"]
    | if length == 0 then "no intensity yet" else "intensity " + join(", ") end;
def named: {sta_lta: "STA/LTA", level: "level", peak: "peak", movement: "movement"}[.] // .;
def axes: [.detectors[]? | (.name | named) + (if .axes then " on " + (.axes | join(", ")) else "" end)] | join("; ");

def words:
    (.payload | fromjson? // .) as $m
    | .topic as $topic
    | if $topic | endswith("/state/online") then
        if $m == "online" then "The station is online." else "The station is offline." end
      elif $topic | endswith("/state/info") then
        if $m.sensor then
          "Sensor: \($m.sensor.driver) \($m.sensor.chip), \($m.sensor.rate_hz) samples per second."
        else
          "No sensor yet."
        end
      elif $topic | endswith("/event/trigger") then
        if $m.event_type == "onset" then
          "\($m.onset | clock)  SHAKING: triggered by \($m | axes)"
        elif $m.event_type == "update" then
          "\($m.peaks.v3.t | clock)  stronger: peak \($m.pga | strength), \($m.pga | gravities), \($m.pgv * 100 | rounded(2)) cm/s, \($m | mercalli)"
        else
          "\($m.end | clock)  The event is over after \($m.duration_s | rounded(1)) s: peak \($m.pga | strength) "
          + "(\($m.pga | gravities)), \($m.pgv * 100 | rounded(2)) cm/s, \($m | mercalli)."
          + (if $m.waveform then "\n            Its waveform: \($m.waveform.records) miniSEED records, "
              + "\($m.waveform.bytes) bytes, on \($m.waveform.topic)" else "" end)
        end
      elif $topic | endswith("/state/summary") then
        if $m.valid == false then
          if $m.seq % 5 == 0 then "\($m.t | clock)  not yet: \($m.reason // "settling")" else empty end
        elif $m.seq % 5 == 0 then
          "\($m.t | clock)  " + (if $m.triggered then "shaking" else "below the trigger" end)
          + ": peak of the last \($m.window_s) s \($m.pga // 0 | strength), \($m | mercalli)"
        else empty end
      elif $topic | contains("/state/alert/") then
        if ($m | type) == "object" and $m.message then "Fault: \($m.message)" else empty end
      else empty end;

# An update may have grown in what these words leave out: the same words are said once.
foreach inputs as $message (
    {};
    .said = ([$message | words] | first)
    | if (.said // "") | contains("  stronger: ") | not then .
      elif .said == .stronger then .said = null
      else .stronger = .said end;
    .said // empty)
