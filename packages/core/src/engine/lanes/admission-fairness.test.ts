import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { claimOf, createTestAdmission, lanesOf } from './admission.fixture.ts'
import type { Slot } from './admission.ts'

const CONCURRENCY = 16 // a share is 8 slots; the last free slot is only for subjects that hold none

describe('fair shares of the slots', () => {
  it('lets a subject that is alone use every slot', () => {
    const { start, running } = world()

    start('noisy', 40)

    expect(running()).toEqual({ noisy: CONCURRENCY })
  })

  it('grants released slots to a subject below its share first', () => {
    const { start, endOldest, running } = world()
    start('noisy', 40)
    start('quiet', 20)

    for (let count = 0; count < 9; count++) endOldest('noisy')

    expect(running()).toEqual({ noisy: 8, quiet: 7 })
  })

  it('takes queued runs round-robin over the subjects below their share', () => {
    const { start, endOldest, granted } = world()
    start('noisy', 40)
    start('a', 3)
    start('b', 3)
    granted.length = 0

    for (let count = 0; count < 7; count++) endOldest('noisy')

    expect(granted).toEqual(['a0', 'b0', 'a1', 'b1', 'a2', 'b2'])
  })

  it('keeps the last slot free for a subject that holds none, once two subjects use the server', () => {
    const { start, endOldest, running } = world()
    start('quiet', 1)
    endOldest('quiet')

    start('noisy', 40)
    expect(running()).toEqual({ noisy: CONCURRENCY - 1 })
    start('quiet', 2)

    expect(running()).toEqual({ noisy: CONCURRENCY - 1, quiet: 1 })
  })

  it('keeps the last slot free after a restart, for a subject that used the server before it', () => {
    const { admission, start, running } = world()
    admission.addSubject('quiet')

    start('noisy', 40)

    expect(running()).toEqual({ noisy: CONCURRENCY - 1 })
  })

  it('keeps no slot free with a maxShare of 1', () => {
    const { start, running } = world({ maxShare: 1 })
    start('quiet', 1)

    start('noisy', 40)

    expect(running()).toEqual({ quiet: 1, noisy: CONCURRENCY - 1 })
  })

  it('takes the runs of one lane round-robin over subjects', () => {
    const { start, endOldest, granted } = world()
    start('noisy', 5, 'x')
    start('quiet', 2, 'x')
    granted.length = 0

    for (const subject of ['noisy', 'noisy', 'quiet', 'noisy']) endOldest(subject)

    expect(granted).toEqual(['noisy1', 'quiet0', 'noisy2', 'quiet1'])
  })

  it('does not hold up a lane while its first run waits for the slots of its subject', () => {
    const { start, endOldest, running } = world()
    start('quiet', 1)
    endOldest('quiet')
    start('noisy', 40)
    start('noisy', 1, 'x')

    start('quiet', 1, 'x')

    expect(running()).toEqual({ noisy: CONCURRENCY - 1, quiet: 1 })
  })

  it('accepts a few runs of other subjects when one subject has filled the queue', () => {
    const { start, admission } = world({ maxQueued: 32 })
    start('noisy', CONCURRENCY + 32)

    start('quiet', 2)

    const message = 'the queue is full (runs.maxQueued is 32); the subject quiet has 2 queued runs'
    expect(() => admission.claim(claimOf('quiet', 'late'))).toThrow(message)
    expect(() => admission.claim(claimOf('noisy', 'late'))).toThrow('the subject noisy has 32 queued runs')
  })

  it('bounds the queue whatever the number of subjects', () => {
    const { start } = world({ maxQueued: 32 })
    start('noisy', CONCURRENCY + 32)
    for (let count = 0; count < 32; count++) start(`subject-${count}`, 1)

    expect(() => start('one-more', 1)).toThrow('the queue is full')
  })

  it('claims, reports and grants 10,000 queued runs without scanning the queue', () => {
    const { start, endOldest, running, slotsOf } = world({ maxQueued: 20_000 })
    const startedAt = performance.now()
    start('noisy', 10_000)
    expect(slotsOf('noisy').at(-1)?.position()).toBe(10_000 - CONCURRENCY)
    for (let count = 0; count < 9_999; count++) endOldest('noisy')

    expect(running()).toEqual({ noisy: 1 })
    // A scan of the queue for each run would take many times longer; the bound only catches a hang.
    expect(performance.now() - startedAt).toBeLessThan(10_000)
  })

  it('grants in the order of an oracle for any claims and releases', () => {
    fc.assert(
      fc.property(
        fc.array(COMMAND, { maxLength: 80 }),
        fc.integer({ min: 1, max: 20 }),
        SHARE,
        (commands, slots, share) => {
          const admission = createTestAdmission({ concurrency: slots, maxQueued: 1_000, maxShare: share })
          const oracle = createOracle(slots, share)
          const present: { readonly runId: string; readonly slot: Slot }[] = []
          const granted: string[] = []
          let count = 0
          for (const { kind, subject, lane, pick } of commands) {
            if (kind === 'claim') {
              const runId = `${subject}-${lane ?? ''}-${count++}`
              const slot = admission.claim({ runId, subject, lanes: lanesOf(lane), onBusy: 'queue' })
              slot.whenGranted(() => granted.push(runId))
              present.push({ runId, slot })
              oracle.claim({ runId, subject, lane })
            } else {
              const [one] = present.splice(pick % Math.max(1, present.length), 1)
              if (one === undefined) continue
              one.slot.release()
              oracle.release(one.runId)
            }
            expect(granted).toEqual(oracle.granted)
            expect(oracle.holding().length).toBeLessThanOrEqual(slots)
          }
          // Every run gets its slot once the runs before it have ended.
          while (oracle.holding().length > 0) {
            const [runId = ''] = oracle.holding()
            present.find((one) => one.runId === runId)?.slot.release()
            oracle.release(runId)
          }
          expect(present.filter(({ slot }) => slot.position() !== undefined)).toEqual([])
          expect(granted).toEqual(oracle.granted)
        },
      ),
      { numRuns: 500 },
    )
  })
})

const SHARE = fc.constantFrom(0.1, 0.25, 0.5, 0.75, 1)
const COMMAND = fc.record({
  kind: fc.constantFrom('claim' as const, 'claim' as const, 'release' as const),
  subject: fc.constantFrom('a', 'b', 'c'),
  lane: fc.constantFrom(undefined, undefined, 'x', 'y'),
  pick: fc.nat(),
})

interface Claim {
  readonly runId: string
  readonly subject: string
  readonly lane: string | undefined
}

/** The rules as plain lists: who is permitted, who goes first, and whose turn it is. */
function createOracle(slots: number, maxShare: number) {
  const share = Math.max(1, Math.floor(slots * maxShare))
  const reserved = Math.min(slots - share, Math.ceil(slots / 16))
  let waiting: Claim[] = []
  let held: Claim[] = []
  let turns: string[] = []
  const seen = new Set<string>()
  const granted: string[] = []
  const heldBy = (subject: string) => held.filter((one) => one.subject === subject).length
  const mayRun = ({ subject }: Claim) => seen.size < 2 || slots - held.length > reserved || heldBy(subject) < reserved
  const isFree = ({ lane }: Claim) => lane === undefined || held.every((one) => one.lane !== lane)
  const settle = () => {
    for (;;) {
      turns = turns.filter((subject) => waiting.some((one) => one.subject === subject))
      if (held.length >= slots) return
      const possible = turns.flatMap((subject) => waiting.find((one) => one.subject === subject && isFree(one)) ?? [])
      const permitted = possible.filter(mayRun)
      const next = permitted.find(({ subject }) => heldBy(subject) < share) ?? permitted[0]
      if (next === undefined) return
      waiting = waiting.filter((one) => one !== next)
      held = [...held, next]
      granted.push(next.runId)
      turns = [...turns.filter((subject) => subject !== next.subject), next.subject]
    }
  }
  return {
    granted,
    holding: () => held.map(({ runId }) => runId),
    claim(claim: Claim) {
      seen.add(claim.subject)
      waiting = [...waiting, claim]
      if (!turns.includes(claim.subject)) turns = [...turns, claim.subject]
      settle()
    },
    release(runId: string) {
      waiting = waiting.filter((one) => one.runId !== runId)
      held = held.filter((one) => one.runId !== runId)
      settle()
    },
  }
}

function world(options: { readonly maxQueued?: number; readonly maxShare?: number } = {}) {
  const admission = createTestAdmission({ concurrency: CONCURRENCY, maxQueued: 1_000, ...options })
  const slots = new Map<string, Slot[]>()
  const started = new Map<string, number>()
  const granted: string[] = []
  const slotsOf = (subject: string): Slot[] => slots.get(subject) ?? []
  return {
    ...{ admission, granted, slotsOf },
    start(subject: string, runs: number, lane?: string) {
      for (let count = 0; count < runs; count++) {
        const number = started.get(subject) ?? 0
        started.set(subject, number + 1)
        const slot = admission.claim(claimOf(subject, `${subject}${number}`, lane))
        slot.whenGranted(() => granted.push(`${subject}${number}`))
        const list = slots.get(subject)
        if (list === undefined) slots.set(subject, [slot])
        else list.push(slot)
      }
    },
    endOldest(subject: string) {
      const list = slotsOf(subject)
      const index = list.findIndex((slot) => slot.isGranted())
      list.splice(index, 1)[0]?.release()
    },
    running: () =>
      Object.fromEntries(
        [...slots].flatMap(([subject, list]) => {
          const count = list.filter((slot) => slot.isGranted()).length
          return count === 0 ? [] : [[subject, count]]
        }),
      ),
  }
}
