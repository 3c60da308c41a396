import { appendDelta, beginFold, foldEvent, foldLog } from '@perdure/core'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { agentEvent, anyLog, logOf, RUN } from './events.fixture.ts'

const START = beginFold(RUN)

/** Logs in which most events append to a text. */
const talkative = fc
  .array(
    fc.oneof(
      { weight: 4, arbitrary: fc.string().map((delta) => ['text.delta', { delta }] as const) },
      { weight: 1, arbitrary: agentEvent },
    ),
    { minLength: 10, maxLength: 30 },
  )
  .map(logOf)

describe('appendDelta', () => {
  it('gives the state of foldEvent for every event that it folds', () => {
    let folded = 0
    fc.assert(
      fc.property(fc.oneof(anyLog, talkative), (log) => {
        let state = START
        for (const event of log) {
          const next = foldEvent(state, event)
          const appended = appendDelta(state, event)
          if (appended !== undefined) {
            folded += 1
            expect(appended.state).toEqual(next)
            expect(appended.after.text).toBe(appended.before.text + appended.delta)
          }
          state = next
        }
      }),
    )
    expect(folded).toBeGreaterThan(20)
  })

  it('folds a delta of the only open block, and no other event', () => {
    const open = foldLog(
      logOf([
        ['text.start', { messageId: 'm' }],
        ['text.delta', { delta: 'Hel' }],
      ]),
      START,
    )
    const of = (type: string, payload: object, state = open) => appendDelta(state, logOf([[type, payload]])[0]!)

    expect(of('text.delta', { delta: 'lo' })).toMatchObject({ key: 'text:m', delta: 'lo', after: { text: 'Hello' } })
    expect(of('text.delta', { delta: 'lo', messageId: 'm' })).toBeDefined()
    for (const payload of [{}, { delta: 1 }, { delta: 'lo', messageId: 'n' }, { delta: 'lo', blockId: 'n' }]) {
      expect(of('text.delta', payload), JSON.stringify(payload)).toBeUndefined()
    }
    expect(of('reasoning.delta', { delta: 'lo' })).toBeUndefined()
    expect(of('text.delta', { delta: 'lo' }, START)).toBeUndefined()
    const two = foldLog(logOf([['text.start', { messageId: 'n' }]]), open)
    expect(of('text.delta', { delta: 'lo' }, two)).toBeUndefined()
  })
})
