import Database from 'better-sqlite3'
import { expect, it } from 'vitest'
import { MIGRATIONS } from './migrations.ts'

/** A database of schema version 25. */
function openEarlier() {
  const db = new Database(':memory:')
  for (const { version, sql } of MIGRATIONS) if (version < 26) db.exec(sql)
  return db
}

const migrate = (db: Database.Database) => db.exec(MIGRATIONS.find(({ version }) => version === 26)?.sql ?? '')

it('renames the status of approvals', () => {
  const db = openEarlier()
  for (const status of ['pending', 'granted', 'denied', 'expired']) {
    db.prepare(
      `INSERT INTO approvals (id, run_id, kind, target_id, owner, name, status, created_at, payload, decision)
       VALUES (?, 'r', 'agent', 'a', 'alice', 'granted', ?, 1, '{"status":"granted"}', '"granted"')`,
    ).run(status, status)
  }
  migrate(db)

  const rows = db.prepare('SELECT id, name, status, payload, decision FROM approvals ORDER BY key').all()
  const same = { name: 'granted', payload: '{"status":"granted"}', decision: '"granted"' }
  expect(rows).toEqual([
    { id: 'pending', status: 'pending', ...same },
    { id: 'granted', status: 'approved', ...same },
    { id: 'denied', status: 'denied', ...same },
    { id: 'expired', status: 'expired', ...same },
  ])
})

it('renames the verdict of recorded decisions, and nothing that a person or an agent has written', () => {
  const db = openEarlier()
  db.exec("INSERT INTO run_keys VALUES (1, 'r')")
  const results = [
    ['approval', '{"granted":true,"reason":"{\\"granted\\":1}","payload":{"granted":0},"by":"bob"}'],
    ['approval', '{"granted":false,"reason":"expired"}'],
    ['approval', null],
    ['step', '{"granted":true}'],
    ['child', '{"granted":true}'],
    ['event', '{"granted":true}'],
    ['client-tool', '{"granted":true}'],
  ] as const
  results.forEach(([kind, result], seq) => {
    db.prepare(
      `INSERT INTO steps (run_key, seq, kind, name, status, attempt, started_at, result)
       VALUES (1, ?, ?, 's', 'completed', 1, 1, ?)`,
    ).run(seq, kind, result)
  })
  migrate(db)

  expect(db.prepare('SELECT kind, result FROM steps ORDER BY seq').raw().all()).toEqual([
    ['approval', '{"approved":true,"reason":"{\\"granted\\":1}","payload":{"granted":0},"by":"bob"}'],
    ['approval', '{"approved":false,"reason":"expired"}'],
    ...results.slice(2),
  ])
})

it('renames the time limit of budgets', () => {
  const db = openEarlier()
  const budgets = ['{"tokens":5,"wallClockMs":60000}', '{"wallClockMs":1}', '{"tokens":5}', null]
  budgets.forEach((budget, key) => {
    db.prepare('INSERT INTO run_keys VALUES (?, ?)').run(key + 1, `r${key}`)
    db.prepare(
      `INSERT INTO runs (key, id, kind, target_id, owner, status, attempt, created_at, usage, budget, metadata, input)
       VALUES (?, ?, 'agent', 'a', 'alice', 'queued', 1, 1, '{}', ?, '{"wallClockMs":"x"}', '{"wallClockMs":1}')`,
    ).run(key + 1, `r${key}`, budget)
  })
  migrate(db)

  const same = ['{"wallClockMs":"x"}', '{"wallClockMs":1}']
  expect(db.prepare('SELECT budget, metadata, input FROM runs ORDER BY key').raw().all()).toEqual([
    ['{"tokens":5,"maxDuration":60000}', ...same],
    ['{"maxDuration":1}', ...same],
    ['{"tokens":5}', ...same],
    [null, ...same],
  ])
})
