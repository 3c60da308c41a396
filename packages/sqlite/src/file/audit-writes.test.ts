import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { anEvent } from '@perdure/testkit'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openSqliteStorage } from '../open-sqlite-storage.ts'
import { openConnection } from './connection.ts'

let directory: string
let path: string
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'perdure-audit-writes-'))
  path = join(directory, 'data.db')
})
afterEach(() => rmSync(directory, { recursive: true }))

const entry = {
  at: 1 as never,
  actor: { kind: 'system', subject: 'test' },
  action: 'test',
  decision: 'allowed',
} as const

describe('an audit entry that the database rejects', () => {
  it.each([
    ['a trigger that aborts', "CREATE TRIGGER no BEFORE INSERT ON audit_entries BEGIN SELECT RAISE(ABORT, 'no'); END"],
    ['a missing table', 'DROP TABLE audit_entries'],
  ])('rolls back only its own commit, given %s', async (_, damage) => {
    const storage = await openSqliteStorage({ path, mode: 'lib' })
    const other = openConnection(path)
    other.database.exec(damage)
    other.database.close()
    const event = { type: 'event.append', events: [anEvent({ topic: 'action' })] } as const

    const [refused, neighbour] = await Promise.allSettled([
      storage.unitOfWork.commit([event, { type: 'audit.append', entry }]),
      storage.unitOfWork.commit([{ type: 'event.append', events: [anEvent({ topic: 'neighbour' })] }]),
    ])

    expect(refused).toMatchObject({ status: 'rejected', reason: { code: 'audit-unavailable' } })
    expect(neighbour.status).toBe('fulfilled')
    expect(await storage.events.read({ topic: 'action' }, { after: 0, limit: 9 })).toEqual([])
    await storage.close()
  })
})
