import { describe, expect, it } from 'vitest'
import { defineAgent, defineWorkflow } from '../targets/definition.ts'
import { defineTrigger } from './define-trigger.ts'

const digest = defineAgent({ id: 'digest', run: () => 'done' })
const nightly = defineWorkflow({ id: 'nightly', run: () => 'done' })

describe('defineTrigger', () => {
  it('declares a trigger that starts an agent, with its durations in milliseconds', () => {
    const trigger = defineTrigger({
      ...{ id: 'often', kind: 'interval', interval: '15m', jitter: '5s', catchUpWindow: 60_000 },
      ...{ start: digest, input: { topic: 'news' }, sessionId: 'main' },
    })
    expect(trigger).toEqual({
      ...{ id: 'often', kind: 'interval', intervalMs: 900_000, jitterMs: 5_000, catchUpWindowMs: 60_000 },
      target: { agentId: 'digest', input: { topic: 'news' }, sessionId: 'main' },
    })
  })

  it('declares a trigger that starts a workflow', () => {
    expect(defineTrigger({ id: 'night', kind: 'cron', cron: '0 3 * * *', start: nightly })).toEqual({
      ...{ id: 'night', kind: 'cron', cron: '0 3 * * *' },
      target: { workflowId: 'nightly' },
    })
  })

  it('names the accepted forms of a duration', () => {
    const idle = '5 minutes' as '5m'
    expect(() => defineTrigger({ id: 'rest', kind: 'idle', idle, start: digest })).toThrow(
      "idle must be a number of milliseconds, or a text such as '250ms'",
    )
  })
})
