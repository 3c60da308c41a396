import type { LogEvent } from '@perdure/core'
import { beginFold, foldLog, transcriptOf } from '@perdure/core'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { logOf } from '../run-logs/events.fixture.ts'
import { runScript } from '../run-logs/run-script.fixture.ts'
import { createLogLimit, TRUNCATED } from './log-limit.ts'

const options = { runId: 'run_1', maxBytes: 10_000, basePath: '/v1' }
const limited = (events: readonly LogEvent[], maxBytes = options.maxBytes) => {
  const limit = createLogLimit({ ...options, maxBytes })
  return events.flatMap((event) => (limit.needs(event.type) ? limit.take(event) : []))
}

const delta = (length: number) => ['text.delta', { messageId: 'm', delta: 'x'.repeat(length) }] as const
const END = ['run.completed', { status: 'completed', finishReason: 'completed', result: 'y'.repeat(20_000) }] as const

describe('a limited log', () => {
  it('is the log itself while it is short enough', () => {
    const events = logOf([delta(9_000), END])
    expect(limited(events)).toEqual(events)
  })

  it('ends with one mark, and keeps how the run ended', () => {
    const shown = limited(logOf([delta(6_000), delta(6_000), delta(1), ['part.data', { name: 'n' }], END]))
    expect(shown.map(({ type }) => type)).toEqual(['text.delta', TRUNCATED, 'run.completed'])
    expect(shown[1]).toMatchObject({ eventId: 'e.2', payload: { rest: '/v1/runs/run_1/events' } })
  })

  it('keeps what the run asks as a whole, and what was answered without long members', () => {
    const asks = { approvalId: 'apr_1', name: 'pay', payload: 'z'.repeat(5_000) }
    const answer = { approvalId: 'apr_1', decision: 'approved', answer: 'z'.repeat(5_000) }
    const shown = limited(logOf([delta(10_001), ['approval.requested', asks], ['approval.resolved', answer]]))
    expect(shown.slice(1)).toMatchObject([
      { type: 'approval.requested', payload: asks },
      { type: 'approval.resolved', payload: { ...answer, answer: expect.stringContaining('left out') } },
    ])
  })

  it('leaves out a question for which it has no room, also its twin', () => {
    const asks = (approvalId: string, length: number) => {
      const fields = { approvalId, name: 'pay', toolCallId: `c_${approvalId}`, payload: 'z'.repeat(length) }
      return [['approval.requested', fields] as const, ['tool.approval.requested', fields] as const]
    }
    const shown = limited(logOf([delta(10_001), ...asks('long', 12_000), ...asks('short', 100)]))
    expect(shown.map(({ type, payload }) => [type, (payload as { approvalId?: string }).approvalId])).toEqual([
      [TRUNCATED, undefined],
      ['approval.requested', 'short'],
      ['tool.approval.requested', 'short'],
    ])
  })

  it('stays bounded however much a run asks and shows', () => {
    const many = Array.from({ length: 10_000 }, (_, n) => [
      ['approval.requested', { approvalId: `apr_${n}`, name: 'pay' }] as const,
      ['run.child.started', { childRunId: `run_${n}` }] as const,
      ['custom.thing', { n }] as const,
    ]).flat()
    const shown = limited(logOf(many))
    const length = shown.reduce((sum, { payload }) => sum + JSON.stringify(payload).length, 0)
    expect(length).toBeLessThan(3 * options.maxBytes)
    expect(shown.length).toBeLessThan(50)
  })

  it('tells the state of every run like the whole log, whatever is left out', () => {
    fc.assert(
      fc.property(runScript, fc.nat(3_000), (events, maxBytes) => {
        const stateOf = (log: readonly LogEvent[]) => {
          const { status, finishReason, result, continuation, attempt, usage, openSteps } = transcriptOf(
            foldLog(log, beginFold('run_1')),
          )
          return { status, finishReason, result, continuation, attempt, usage, openSteps }
        }
        expect(stateOf(limited(events, maxBytes))).toEqual(stateOf(events))
      }),
    )
  })

  it('depends on the events before only, so that a reader that resumes gets the same', () => {
    const events = logOf(Array.from({ length: 60 }, () => delta(500)))
    for (const end of [1, 10, 30, 59])
      expect(limited(events).slice(0, end)).toEqual(limited(events.slice(0, end)).slice(0, end))
  })
})
