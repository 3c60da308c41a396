import type { LogHead, StoredEvent } from '@perdure/ports'
import { anEvent } from '@perdure/testkit'
import { describe, expect, it } from 'vitest'
import { type FirstAfter, findStartingPoint } from './starting-point.ts'

const at = (...positions: number[]) => {
  const events = positions.map((position): StoredEvent => ({ ...anEvent(), position }))
  return async (after: number) => events.find(({ position }) => position > after)
}
const fromFirst = (at: LogHead, lastEventId: string | undefined, firstAfter: FirstAfter) =>
  findStartingPoint(at, { lastEventId, startsAt: 'first' }, firstAfter)
const head = { epoch: 'e1', position: 20, trimmedThrough: 0 }
const retained = { ...head, trimmedThrough: 10 }

describe('findStartingPoint', () => {
  it('starts at the head if startsAt is head', async () => {
    const live = await findStartingPoint(head, { lastEventId: undefined, startsAt: 'head' }, at(5, 6))

    expect(live).toEqual({ after: 20, cursor: 'e1.20' })
  })

  it('starts before the first event if startsAt is first', async () => {
    expect(await fromFirst(head, undefined, at(5, 6))).toEqual({ after: 0, cursor: 'e1.0' })
  })

  it('returns a cursor that can be resumed without a gap', async () => {
    for (const positions of [[], [12, 15]]) {
      const { cursor, after } = await fromFirst(retained, undefined, at(...positions))

      expect(await fromFirst(retained, cursor, at(...positions))).toEqual({ after, cursor })
    }
  })

  it('skips no retained event', async () => {
    expect(await fromFirst(retained, undefined, at(4, 12))).toEqual({ after: 3, cursor: 'e1.3' })
  })

  it('resumes after the cursor', async () => {
    expect(await fromFirst(head, 'e1.7', at(5, 9))).toEqual({ after: 7, cursor: 'e1.7' })
    expect(await fromFirst(head, 'e1.20', at())).toEqual({ after: 20, cursor: 'e1.20' })
    expect(await fromFirst(retained, 'e1.10', at(12))).toEqual({ after: 10, cursor: 'e1.10' })
  })

  it.each(['other.7', 'e1.21', 'e1', 'e1.-1', 'nonsense', '', 'e1.7\nid: e1.9'])(
    'reports a gap for the cursor %j and starts over',
    async (lastEventId) => {
      expect(await fromFirst(head, lastEventId, at(5, 9))).toEqual({
        ...{ after: 0, cursor: 'e1.0' },
        gap: { firstAvailable: 'e1.5', lastEventId },
      })
    },
  )

  it('reports a gap for a cursor before the oldest retained event, and continues with the retained events', async () => {
    expect(await fromFirst(retained, 'e1.9', at(12))).toEqual({
      ...{ after: 10, cursor: 'e1.10' },
      gap: { firstAvailable: 'e1.12', lastEventId: 'e1.9' },
    })
    expect(await fromFirst(retained, 'e1.3', at())).toEqual({
      ...{ after: 10, cursor: 'e1.10' },
      gap: { firstAvailable: null, lastEventId: 'e1.3' },
    })
    expect(await fromFirst(retained, 'e1.6', at(4, 8, 12))).toMatchObject({ after: 7 })
  })

  it('truncates the cursor that it reports with a gap', async () => {
    const { gap } = await fromFirst(head, 'x'.repeat(10_000), at())

    expect(gap?.lastEventId).toHaveLength(128)
  })
})
