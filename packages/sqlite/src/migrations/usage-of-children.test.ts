import Database from 'better-sqlite3'
import { expect, it } from 'vitest'
import { MIGRATIONS } from './migrations.ts'

const usage = (toolCalls: number) => JSON.stringify({ inputTokens: 1, outputTokens: 0, costUsd: 0.5, toolCalls })

it('adds the usage of children to the records of open runs, and leaves ended runs as they are', () => {
  const db = new Database(':memory:')
  for (const { version, sql } of MIGRATIONS) if (version < 22) db.exec(sql)
  const runs = [
    ['top', 'suspended', null, usage(1)],
    ['open', 'suspended', 'top', usage(2)],
    ['below', 'running', 'open', '{}'],
    ['ended', 'completed', 'top', usage(4)],
    ['unseen', 'failed', 'open', usage(8)],
    ['alone', 'queued', null, usage(16)],
  ] as const
  runs.forEach(([id, status, parent, own], key) => {
    db.prepare('INSERT INTO run_keys (key, run_id) VALUES (?, ?)').run(key + 1, id)
    db.prepare(
      `INSERT INTO runs (key, id, kind, target_id, owner, status, attempt, parent_run_id, created_at, usage, metadata, input)
       VALUES (?, ?, 'agent', 'a', 'alice', ?, 1, ?, 1, ?, '{}', 'null')`,
    ).run(key + 1, id, status, parent, own)
  })
  const call = db.prepare(
    `INSERT INTO steps (run_key, seq, kind, name, status, attempt, child_run_id, started_at, usage)
     VALUES (?, ?, 'child', 'a', ?, 1, ?, 1, ?)`,
  )
  call.run(1, 1, 'waiting', 'open', null)
  call.run(1, 2, 'completed', 'ended', usage(4))
  call.run(2, 1, 'waiting', 'below', null)
  call.run(2, 2, 'waiting', 'unseen', null)

  db.exec(MIGRATIONS.find(({ version }) => version === 22)?.sql ?? '')

  const rows = db.prepare("SELECT id, usage ->> 'toolCalls' AS calls, usage ->> 'costUsd' AS cost FROM runs").all()
  expect(rows).toEqual([
    { id: 'top', calls: 15, cost: 2 },
    { id: 'open', calls: 10, cost: 1 },
    { id: 'below', calls: null, cost: null },
    { id: 'ended', calls: 4, cost: 0.5 },
    { id: 'unseen', calls: 8, cost: 0.5 },
    { id: 'alone', calls: 16, cost: 0.5 },
  ])
})
