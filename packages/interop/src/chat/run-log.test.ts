import { createRenderEnvelope } from '@perdure/core'
import { type EventLog, noMeter, type StoredEvent, toJsonText } from '@perdure/ports'
import { anEvent, aRun } from '@perdure/testkit'
import { describe, expect, it } from 'vitest'
import { beginLog, readLog } from './run-log.ts'

describe('readLog', () => {
  it('lets other requests have their turn after each patch of a state, which can cost more than its length', async () => {
    const run = aRun({ status: 'running' })
    const stored = ['part.state', 'part.state-delta', 'part.state-delta', 'a.x', 'b.x'].map(
      (type, index): StoredEvent => ({
        ...anEvent({ runId: run.id, type, payload: toJsonText({ state: {}, patch: [] }) }),
        position: index + 1,
      }),
    )
    const events = {
      head: async () => ({ epoch: 'e1', position: 5, trimmedThrough: 0 }),
      read: async (_, { after }) => (after === 0 ? stored : []),
    } as Pick<EventLog, 'head' | 'read'> as EventLog
    const seen: string[] = []
    const deps = {
      ...{ events, render: createRenderEnvelope({ meter: noMeter, policy: 'redact' }) },
      ...{ targets: { find: () => undefined }, basePath: '/v1', maxAnswerBytes: 1_000_000, maxResultBytes: 1_000 },
      yieldTurn: async () => void seen.push('turn'),
    }

    await readLog(deps, run, await beginLog(deps, run), ({ type }) => seen.push(type))

    expect(seen).toEqual(['part.state', 'part.state-delta', 'turn', 'part.state-delta', 'turn', 'a.x', 'b.x', 'turn'])
  })
})
