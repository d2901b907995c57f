-- db/migrations/0001_initial.sql - the first schema: catalogue, plays, outbox and change log.
--
-- A migration that was released is never edited: the next number changes what it made. Tables that grow with the
-- catalogue are keyed by track_id, tables that grow with plays by station, and that column stands in every primary key
-- and unique constraint, so that each can be spread over machines by it. Hence no constraint says "one track for a
-- content hash": put_track holds an advisory lock on the hash instead. Sequences are named, not identity columns, for
-- the same reason. search_path is set by the migrator.

create sequence track_ids;
create sequence change_ids;
create sequence play_ids;
create sequence segment_ids;
create sequence outbox_ids;

-- Catalogue -----------------------------------------------------------------------------------------------------------

create table tracks (
  track_id        bigint primary key,
  content_hash    text not null,
  source          text not null,           -- the path as given; bytes that are no UTF-8 are U+10FF00 + byte
  source_size     bigint not null,
  source_mtime_ns bigint not null,
  duration_s      double precision not null,
  landmarks       bigint not null,
  title           text not null default '',
  artist          text not null default '',
  album           text not null default '',
  label           text not null default '',
  composer        text not null default '',
  isrcs           text[] not null default '{}',
  recording_mbid  text not null default '',
  extra           json not null default '{}' check (json_typeof(extra) = 'object'),
  ingested_at     timestamptz not null default now()
);
-- Hash indexes: some 30 bytes an entry whatever the length of a path, and a path may be longer than a b-tree takes.
create index tracks_content_hash on tracks using hash (content_hash);
create index tracks_source on tracks using hash (source);

-- One row a track and profile, never one a hash. External storage: packed bytes do not compress, so nobody tries.
create table fingerprints (
  track_id        bigint not null,
  profile         text not null,
  profile_version integer not null,
  duration_s      double precision not null,
  packed          bytea not null,
  primary key (track_id, profile)
);
alter table fingerprints alter column packed set storage external;

create table melodies (
  track_id        bigint not null,
  method          text not null,           -- midi, recording, ...
  method_version  integer not null,
  packed          bytea not null,
  primary key (track_id, method)
);
alter table melodies alter column packed set storage external;

create table signatures (
  track_id        bigint not null,
  method          text not null,
  method_version  integer not null,
  packed          bytea not null,
  primary key (track_id, method)
);
alter table signatures alter column packed set storage external;

-- change_id is taken under an advisory lock that the transaction holds until it has committed: a reader that has seen
-- id n will never see a smaller one appear later.
create table change_log (
  change_id bigint not null,
  track_id  bigint not null,
  removed   boolean not null,
  at        timestamptz not null default now(),
  primary key (change_id, track_id)
);

-- Plays ---------------------------------------------------------------------------------------------------------------

create table stations (
  station      text primary key,
  lease_holder text,                       -- the daemon that listens to it, when several share the work
  leased_until timestamptz
);

-- A play outlives its track: track_json is the track as it was. The unique constraint makes a play that is written
-- again, after a commit whose answer was lost, the same play.
create table plays (
  station         text not null,
  play_id         bigint not null,
  track_id        bigint not null,
  started_at      timestamptz not null,
  ended_at        timestamptz,
  detected_at     timestamptz not null,
  track_start_s   double precision not null,
  confidence      double precision not null,
  score           double precision not null,
  speed           double precision not null,
  pitch           double precision not null,
  method          text not null,
  stream_title    text not null,
  time_accuracy_s double precision not null,
  track_json      json not null,
  primary key (play_id, station),
  unique (station, started_at, track_id)
);
create index plays_time on plays (started_at, play_id);
create index plays_open on plays (station, started_at) where ended_at is null;

create table segments (
  station    text not null,
  segment_id bigint not null,
  kind       text not null,
  started_at timestamptz not null,
  ended_at   timestamptz,
  primary key (segment_id, station),
  unique (station, started_at, kind)
);
create index segments_time on segments (started_at, segment_id);

-- Outbox --------------------------------------------------------------------------------------------------------------

create table outbox (
  station      text not null,
  outbox_id    bigint not null,
  event_id     text not null,
  sink         text not null,
  type         text not null,
  is_log       boolean not null,
  body         text not null,              -- exactly the bytes that are signed and sent
  created_at   timestamptz not null,
  attempts     integer not null default 0,
  status       text not null default 'waiting' check (status in ('waiting', 'delivered', 'dropped', 'dead')),
  not_before   timestamptz not null default now(),
  leased_until timestamptz,
  done_at      timestamptz,
  note         text,                       -- the last error, or why it was dropped
  primary key (outbox_id, station),
  unique (station, sink, event_id)
);
create index outbox_waiting on outbox (station, sink, is_log, outbox_id) where status = 'waiting';
create index outbox_dead on outbox (outbox_id) where status = 'dead';
create index outbox_done on outbox (done_at) where status in ('delivered', 'dropped');

-- What became of rows that were deleted after a month, so that counters never run backwards.
create table outbox_purged (
  station   text primary key,
  delivered bigint not null,
  dropped   bigint not null
);
