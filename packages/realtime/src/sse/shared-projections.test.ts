import type { DeliveredEvent } from '@perdure/core'
import { toJsonText } from '@perdure/ports'
import { describe, expect, it } from 'vitest'
import type { RunProjector } from './run-projector.ts'
import { createSharedProjections } from './shared-projections.ts'

const event = (position: number): DeliveredEvent => ({
  ...{ position, type: 'a.x' },
  envelope: toJsonText({ eventId: `e.${position}`, type: 'a.x', at: '', payload: {} }),
})

function createNamed(name: string): RunProjector {
  let taken = 0
  return {
    next: () => [{ data: `${name} ${++taken}` }],
    opening: () => [],
    // As in the projectors of protocols, the frames change what the projector would show next.
    rest: () => (taken === 0 ? undefined : [{ data: `${name} rests after ${taken++}` }]),
  }
}

const idOf = ({ position, place }: { position: number; place: number }) => `${position}/${place}`

describe('a shared projection', () => {
  it('shows how the run rests only to a reader that has every event of it', () => {
    const { enter } = createSharedProjections()
    const quick = enter('k', idOf)
    const slow = enter('k', idOf)
    quick.join(1, createNamed('a'))
    slow.join(1, createNamed('b'))
    quick.next(event(2))

    expect(slow.rest(1)).toBeUndefined()
    expect(slow.next(event(2))).toEqual({ blocks: ['id: 2/1\ndata: a 1\n\n'], isLast: false })
    expect(quick.rest(2)).toEqual([{ data: 'a rests after 1' }])
    expect(slow.rest(2)).toEqual(quick.rest(2))
  })

  it('takes no event after it has shown how the run rests', () => {
    const { enter } = createSharedProjections()
    const ended = enter('k', idOf)
    const behind = enter('k', idOf)
    ended.join(1, createNamed('a'))
    behind.join(1, createNamed('b'))
    ended.next(event(2))
    ended.rest(2)

    expect(behind.next(event(2))?.blocks).toEqual(['id: 2/1\ndata: a 1\n\n'])
    expect(behind.next(event(3))).toBeUndefined()
    const later = enter('k', idOf)
    expect(later.join(3, createNamed('c'))).toBe(true)
    expect(later.next(event(4))?.blocks).toEqual(['id: 4/1\ndata: c 1\n\n'])
  })

  it('ends with its last reader', () => {
    const { enter } = createSharedProjections()
    const first = enter('k', idOf)
    first.join(1, createNamed('a'))
    first.next(event(2))
    first.leave()
    const next = enter('k', idOf)

    expect(next.join(5, createNamed('b'))).toBe(true)
    expect(next.next(event(6))?.blocks).toEqual(['id: 6/1\ndata: b 1\n\n'])
  })

  it('refuses a reader that missed an event which is no longer kept', () => {
    const { enter } = createSharedProjections()
    const first = enter('k', idOf)
    first.join(1, createNamed('a'))
    first.next(event(2))
    const late = enter('k', idOf)

    expect(late.join(1, createNamed('b'))).toBe(false)
    first.next(event(3))
    expect(late.join(2, createNamed('b'))).toBe(false)
    expect(late.join(3, createNamed('b'))).toBe(true)
    expect(late.next(event(4))?.blocks).toEqual(['id: 4/1\ndata: a 3\n\n'])
  })
})
