import Database from 'better-sqlite3'
import { describe, expect, it } from 'vitest'
import { MIGRATIONS } from './migrations.ts'

const RUNS = [
  // The end of `child` never reached `parent`, and the end of `failed` neither `orphan` nor its approval.
  ['parent', 'suspended', null],
  ['child', 'completed', 'parent'],
  ['failed', 'failed', null],
  ['orphan', 'queued', 'failed'],
  ['asked', 'aborted', null],
  ['told', 'completed', 'parent'],
  ['asks', 'suspended', null],
  ['done', 'completed', null],
] as const

/** A database of schema version 23. */
function openEarlier() {
  const db = new Database(':memory:')
  db.pragma('foreign_keys = ON')
  for (const { version, sql } of MIGRATIONS) if (version < 24) db.exec(sql)
  const keyOf = (id: string) => RUNS.findIndex((run) => run[0] === id) + 1
  for (const [id, status, parent] of RUNS) {
    db.prepare('INSERT INTO run_keys (key, run_id) VALUES (?, ?)').run(keyOf(id), id)
    db.prepare(
      `INSERT INTO runs (key, id, kind, target_id, thread_id, owner, status, attempt, parent_run_id, created_at, usage,
         metadata, input, result, priority, flow, abort_reason, error, parked)
       VALUES (?, ?, 'workflow', 'w', ?, 'alice', ?, 2, ?, 7, '{}', '{"k":"v"}', 'null', '1', 5, '{}', 'r', '{}', 'p')`,
    ).run(keyOf(id), id, `thread of ${id}`, status, parent)
    db.prepare("INSERT INTO run_fields VALUES ('metadata.k', 'v', 7, ?)").run(keyOf(id))
  }
  const call = db.prepare(
    `INSERT INTO steps (run_key, seq, kind, name, status, attempt, child_run_id, started_at)
     VALUES (?, ?, 'child', 'a', ?, 1, ?, 1)`,
  )
  call.run(keyOf('parent'), 1, 'waiting', 'child')
  call.run(keyOf('parent'), 2, 'completed', 'told')
  const approval = db.prepare(
    `INSERT INTO approvals (id, run_id, kind, target_id, owner, name, status, created_at)
     VALUES (?, ?, 'workflow', 'w', 'alice', 'go', ?, 1)`,
  )
  approval.run('open', 'asked', 'pending')
  approval.run('waits', 'asks', 'pending')
  approval.run('decided', 'done', 'granted')
  return db
}

const migrate = (db: Database.Database) => db.exec(MIGRATIONS.find(({ version }) => version === 24)?.sql ?? '')

describe('migration 24', () => {
  it('copies every column of every run, and the fields of every run', () => {
    const db = openEarlier()
    const before = db.prepare('SELECT * FROM runs ORDER BY key').all() as object[]
    const fields = db.prepare('SELECT * FROM run_fields').all()
    migrate(db)

    const after = db.prepare('SELECT * FROM runs ORDER BY key').all() as object[]
    const added = { execution: 0, executor: null }
    expect(after).toEqual(before.map((row) => ({ ...row, ...added })))
    expect(db.prepare('SELECT * FROM run_fields').all()).toEqual(fields)
    expect(db.pragma('foreign_key_check')).toEqual([])
  })

  it('keeps the fields of a run bound to the run', () => {
    const db = openEarlier()
    migrate(db)
    db.exec("DELETE FROM runs WHERE id = 'done'")

    expect(db.prepare('SELECT count(*) FROM run_fields').pluck().get()).toBe(RUNS.length - 1)
  })

  it('marks exactly the ended runs whose parent, children or approvals were not followed up', () => {
    const db = openEarlier()
    migrate(db)

    const marked = db.prepare('SELECT id FROM run_follow_ups JOIN runs ON key = run_key ORDER BY key').pluck().all()
    expect(marked).toEqual(['child', 'failed', 'asked'])
  })
})
