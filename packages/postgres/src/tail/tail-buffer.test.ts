import type { EpochMs, StoredEvent } from '@perdure/ports'
import { anEvent } from '@perdure/testkit'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createTailBuffer } from './tail-buffer.ts'

/** Events that the log has, in commits of this process and of others. */
interface Commit {
  readonly isOwn: boolean
  readonly events: readonly StoredEvent[]
}

function logOf(commits: readonly (readonly [isOwn: boolean, length: number])[]): readonly Commit[] {
  let position = 0
  return commits.map(([isOwn, length]) => ({
    isOwn,
    events: Array.from({ length }, () => ({ ...anEvent({ at: 1 as EpochMs }), position: ++position })),
  }))
}

const commits = fc.array(fc.tuple(fc.boolean(), fc.integer({ min: 1, max: 4 })), { minLength: 1, maxLength: 30 })

/** The next step: an own commit is answered, a part of the log is read, or what is known is delivered. */
const actions = fc.array(
  fc.oneof(
    fc.constant({ type: 'answer' } as const),
    fc.record({ type: fc.constant('read' as const), upTo: fc.integer({ min: 0, max: 120 }) }),
    fc.constant({ type: 'take' } as const),
  ),
  { maxLength: 60 },
)

describe('createTailBuffer', () => {
  it('delivers every event once and in order, and knows its own, whatever is answered and read when', () => {
    fc.assert(
      fc.property(commits, actions, (shape, steps) => {
        const log = logOf(shape)
        const all = log.flatMap(({ events }) => events)
        const ownPositions = new Set(log.flatMap(({ isOwn, events }) => (isOwn ? events.map((e) => e.position) : [])))
        const unanswered = log.filter(({ isOwn }) => isOwn)
        const buffer = createTailBuffer(0)
        const taken: number[] = []
        const foreign: number[] = []
        const take = (which: 'take' | 'takeOwn') => {
          const part = buffer[which]()
          taken.push(...part.events.map(({ position }) => position))
          foreign.push(...part.foreign.map(({ position }) => position))
        }
        const answer = () => {
          const next = unanswered.shift()
          if (next !== undefined) buffer.addOwn(next.events)
          take('takeOwn')
        }
        /** A read that ends inside an own commit is released only after that commit was answered. */
        const release = () => {
          while ((unanswered[0]?.events[0]?.position ?? Number.POSITIVE_INFINITY) <= buffer.through()) answer()
          take('take')
        }
        for (const step of steps) {
          if (step.type === 'answer') answer()
          else if (step.type === 'take') release()
          else buffer.addRead(all.filter(({ position }) => position > buffer.through() && position <= step.upTo))
        }
        buffer.addRead(all.filter(({ position }) => position > buffer.through()))
        release()

        expect(taken).toEqual(all.map(({ position }) => position))
        expect(foreign).toEqual(taken.filter((position) => !ownPositions.has(position)))
      }),
    )
  })

  it('asks for a read when events before an own commit are unknown', () => {
    const [first, second, third] = logOf([
      [true, 2],
      [false, 1],
      [true, 1],
    ])
    const buffer = createTailBuffer(0)

    expect(buffer.addOwn(first?.events ?? [])).toBe(true)
    expect(buffer.addOwn(third?.events ?? [])).toBe(false)
    expect(buffer.take().events).toHaveLength(2)
    buffer.addRead([...(second?.events ?? []), ...(third?.events ?? [])])
    expect(buffer.take()).toMatchObject({ events: [{ position: 3 }, { position: 4 }], foreign: [{ position: 3 }] })
  })

  it('drops what it knows when it restarts', () => {
    const [own, other] = logOf([
      [true, 1],
      [false, 1],
    ])
    const buffer = createTailBuffer(0)
    buffer.addOwn(own?.events ?? [])
    buffer.restart(9)
    buffer.addRead(other?.events ?? [])

    expect([buffer.through(), buffer.take().events]).toEqual([9, []])
  })
})
