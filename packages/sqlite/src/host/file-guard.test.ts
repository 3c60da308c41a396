import { expect, it } from 'vitest'
import type { HeldFiles, LostFile, Whereabouts } from '../file/held-files.ts'
import type { Rescued } from '../file/rescue.ts'
import { createFileGuard } from './file-guard.ts'

const PATH = '/nowhere/data.db'

interface Situation {
  lost: readonly LostFile[]
  isDiskGone?: boolean
  whereabouts?: Whereabouts
}

/** A guard whose time passes only while it waits. */
function setUp(situation: Situation, rescue: (attempt: number) => Rescued) {
  let ms = 0
  let attempts = 0
  let looks = 0
  const held: HeldFiles = {
    lost() {
      looks++
      return situation.lost
    },
    isDiskGone: () => situation.isDiskGone === true,
    whereabouts: () => situation.whereabouts ?? {},
  }
  const guard = createFileGuard({
    ...{ path: PATH, held, now: () => 0, monotonicMs: () => ms },
    rescue: async () => rescue(attempts++),
    async pause(duration) {
      ms += duration
    },
  })
  return {
    guard,
    waitedMs: () => ms,
    attempts: () => attempts,
    looks: () => looks,
    pass: (duration: number) => {
      ms += duration
    },
  }
}

const missing: LostFile = { file: PATH, change: 'missing' }
const noSpace = (): Rescued => {
  throw new Error('database or disk is full')
}

it('reads the disk at most every 100 ms, unless a check is due', () => {
  const { guard, looks, pass } = setUp({ lost: [] }, noSpace)

  for (let n = 0; n < 50; n++) guard.check()
  expect(looks()).toBe(1)
  pass(100)
  guard.check()
  guard.check(true)
  expect(looks()).toBe(3)
})

it('keeps its verdict when the file comes back, and reveals no path to clients', () => {
  const situation: Situation = { lost: [missing] }
  const { guard } = setUp(situation, noSpace)

  expect(guard.check()?.message).toBe('The storage stopped: data.db is missing.')
  situation.lost = []
  expect(guard.check(true)?.code).toBe('storage-failed')
})

it('tries again every second while a deleted file cannot be saved, because it is lost when the process ends', async () => {
  const { guard, waitedMs } = setUp({ lost: [missing] }, (attempt) => {
    if (attempt < 100) noSpace()
    return { copy: '/nowhere/data.db.rescued-1' }
  })

  expect((await guard.save()).hint).toContain('perdure restore /nowhere/data.db.rescued-1')
  expect(waitedMs()).toBe(500 + 100 * 1_000)
})

it('gives up after ten minutes, and names the descriptor and the cause', async () => {
  const descriptor = '/proc/1/fd/20'
  const { guard, attempts } = setUp({ lost: [missing], whereabouts: { descriptor } }, noSpace)

  const { message, hint, cause } = await guard.save()

  expect(attempts()).toBe(600)
  expect(message).toContain('could not be saved')
  expect(hint).toContain(descriptor)
  expect(cause).toEqual(new Error('database or disk is full'))
})

it('does not wait for space for a file that was moved, and names its new place', async () => {
  const { guard, attempts } = setUp({ lost: [missing], whereabouts: { name: '/elsewhere/old.db' } }, noSpace)

  expect((await guard.save()).hint).toContain('Move /elsewhere/old.db back to /nowhere/data.db')
  expect(attempts()).toBe(1)
})

it('writes nothing while the disk is not mounted', async () => {
  const { guard, attempts } = setUp({ lost: [missing], isDiskGone: true }, noSpace)

  expect((await guard.save()).hint).toContain('Mount the disk again')
  expect(attempts()).toBe(0)
})

it('writes a copy when the database file is deleted after its log was merged into it', async () => {
  const situation: Situation = { lost: [{ file: `${PATH}-wal`, change: 'missing' }] }
  const { guard, attempts } = setUp(situation, (attempt) => {
    situation.lost = [missing]
    return { copy: attempt === 0 ? undefined : '/nowhere/data.db.rescued-1' }
  })

  expect((await guard.save()).message).toContain('saved as /nowhere/data.db.rescued-1')
  expect(attempts()).toBe(2)
})

it('has nothing to save when only the lock file is gone', async () => {
  const { guard, attempts } = setUp({ lost: [{ file: `${PATH}.lock`, change: 'missing' }] }, noSpace)

  expect((await guard.save()).message).toContain('holds all data')
  expect(attempts()).toBe(0)
})
