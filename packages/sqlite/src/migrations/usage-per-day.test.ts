import Database from 'better-sqlite3'
import { expect, it } from 'vitest'
import { MIGRATIONS } from './migrations.ts'

it('keeps the usage of deleted runs, to which other days are added', () => {
  const db = new Database(':memory:')
  for (const { version, sql } of MIGRATIONS) if (version < 37) db.exec(sql)
  db.exec("INSERT INTO deleted_usage VALUES ('alice', 20455, 2, 0.5), ('bob', 20456, 1, 0.25)")

  db.exec(MIGRATIONS.find(({ version }) => version === 37)?.sql ?? '')
  db.exec("INSERT INTO deleted_usage VALUES ('alice', 20456, 3, 0.75)")

  expect(
    db.prepare('SELECT subject, day, runs, cost_usd FROM deleted_usage ORDER BY subject, day').raw().all(),
  ).toEqual([
    ['alice', 20455, 2, 0.5],
    ['alice', 20456, 3, 0.75],
    ['bob', 20456, 1, 0.25],
  ])
})
