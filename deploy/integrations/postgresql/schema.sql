-- Tables for seismote-store --postgres: each row is a station's message as it was, so that nothing of it is lost; views
-- name what is asked for most.
CREATE TABLE IF NOT EXISTS seismote_ground (
    station text NOT NULL, time timestamptz NOT NULL, message jsonb NOT NULL, PRIMARY KEY (station, time));
CREATE TABLE IF NOT EXISTS seismote_health (
    station text NOT NULL, time timestamptz NOT NULL, message jsonb NOT NULL, PRIMARY KEY (station, time));
CREATE TABLE IF NOT EXISTS seismote_event (
    station text NOT NULL, time timestamptz NOT NULL, message jsonb NOT NULL, PRIMARY KEY (station, time));
CREATE INDEX IF NOT EXISTS seismote_event_time ON seismote_event (time);

CREATE OR REPLACE VIEW seismote_events AS
SELECT station, time AS onset, message->>'event_id' AS event_id, (message->>'pga')::float AS pga,
       (message->>'pgv')::float AS pgv, (message->>'mmi')::float AS mmi, (message->>'duration_s')::float AS duration_s,
       message->'class'->>'likely' AS likely, (message->'class'->>'p')::float AS p,
       coalesce((message->>'test')::boolean, false) AS test
FROM seismote_event;

CREATE OR REPLACE VIEW seismote_levels AS
SELECT station, time, (message->>'pga')::float AS pga, (message->>'pgv')::float AS pgv, (message->>'mmi')::float AS mmi,
       (message->>'triggered')::boolean AS triggered
FROM seismote_ground WHERE (message->>'valid')::boolean;
