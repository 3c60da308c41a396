import { describe, expect, it } from 'vitest'
import { type CommitMark, markOf } from '../file/commit-mark.ts'
import { openConnection } from '../file/connection.ts'
import { applyMigrations } from '../file/migrate.ts'
import { createCommitMarks } from './commit-marks.ts'

function setUp(synchronous: 'full' | 'normal' = 'full', inLock = 0) {
  const db = openConnection(':memory:')
  applyMigrations(db.database, { now: () => 0 })
  const calls: unknown[] = []
  const sending = Promise.withResolvers<never>()
  const worker = {
    send: (request: object) => {
      calls.push(request)
      return sending.promise
    },
  }
  const lease = {
    countOf: () => inLock,
    storeMark: ({ epoch, count }: CommitMark) => void calls.push(['lock', epoch === markOf(db.database).epoch, count]),
  }
  return { calls, sending, storeMark: createCommitMarks(db, { worker, lease, synchronous }) }
}

describe('createCommitMarks', () => {
  it('stores a mark in the lock file only after it is stored in the database', async () => {
    const { calls, sending, storeMark } = setUp()

    const stored = storeMark()
    expect(calls).toEqual([{ type: 'mark', count: 1 }])
    sending.resolve(undefined as never)
    await stored

    expect(calls).toEqual([{ type: 'mark', count: 1 }, ['lock', true, 1]])
  })

  it('stores no mark in the lock file when the database refuses it', async () => {
    const { calls, sending, storeMark } = setUp()
    sending.reject(new Error('full'))

    await expect(storeMark()).rejects.toThrow('full')

    expect(calls).toEqual([{ type: 'mark', count: 1 }])
  })

  it('lowers the count of a lock file that is ahead of the database', () => {
    expect(setUp('full', 7).calls).toEqual([['lock', true, 0]])
  })

  it('stores no marks for commits that power loss may undo', async () => {
    const { calls, storeMark } = setUp('normal')

    await storeMark()

    expect(calls).toEqual([])
  })
})
