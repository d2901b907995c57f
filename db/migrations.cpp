// db/migrations.cpp - numbered SQL files that bring a database up to date.
#include "db/migrations.h"

#include "db/connection.h"

namespace spintag::db {

namespace {

/// The newest version applied; 0 = none, also when there is no table to say so.
int applied_version(Connection& connection) {
  const bool recorded =
      connection.query("select to_regclass('spintag.schema_migrations') is not null").truth(0, 0);
  if (!recorded) return 0;
  return static_cast<int>(
      connection.query("select coalesce(max(version), 0) from spintag.schema_migrations")
          .integer(0, 0));
}

void refuse_newer(int version) {
  const int known = migrations().back().version;
  if (version > known) {
    throw StoreError(StoreError::Kind::schema,
                     "the database has schema version " + std::to_string(version) +
                         ", this spintag knows versions up to " + std::to_string(known) +
                         ": it was used by a newer spintag (upgrade this one)");
  }
}

void refuse_foreign(Connection& connection) {
  const Rows tables = connection.query(
      "select c.relname from pg_class c join pg_namespace n on n.oid = c.relnamespace"
      " where n.nspname = 'spintag' limit 1");
  if (!tables.empty()) {
    throw StoreError(StoreError::Kind::schema,
                     "the database has a schema spintag that spintag did not make (it holds " +
                         tables.text(0, 0) + "): choose another database");
  }
}

}  // namespace

void bring_up_to_date(Connection& connection) {
  const int newest = migrations().back().version;
  const int before = applied_version(connection);
  refuse_newer(before);
  if (before == newest) return;
  // Not pg_advisory_xact_lock: a transaction that waited for its lock may still remember from its
  // start that there is no such schema. If anything fails the connection goes, and the lock with
  // it.
  connection.query("select pg_advisory_lock(hashtext('spintag migrations'))");
  connection.transaction([&] {
    const int version = applied_version(connection);
    refuse_newer(version);
    if (version == 0) {
      refuse_foreign(connection);
      connection.query("create schema if not exists spintag");
      connection.query(
          "create table spintag.schema_migrations (version integer primary key, name text not null,"
          " applied_at timestamptz not null default now())");
    }
    for (const Migration& migration : migrations()) {
      if (migration.version <= version) continue;
      connection.query(migration.sql);
      connection.query("insert into spintag.schema_migrations (version, name) values ($1, $2)",
                       {migration.version, migration.name});
    }
  });
  connection.query("select pg_advisory_unlock(hashtext('spintag migrations'))");
}

}  // namespace spintag::db
