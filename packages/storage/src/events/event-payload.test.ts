import { describe, expect, it } from 'vitest'
import { toEventPayload } from './event-payload.ts'

describe('toEventPayload', () => {
  it('reads the decision granted as approved, and nothing else', () => {
    const payload = { approvalId: 'apr_1', decision: 'granted', payload: { decision: 'granted' }, answer: ['granted'] }

    expect(JSON.parse(toEventPayload('approval.resolved', JSON.stringify(payload)))).toEqual({
      ...payload,
      decision: 'approved',
    })
  })

  it('reads the effectId of a tool call as its idempotencyKey, and leaves its arguments', () => {
    const payload = { toolCallId: 'a', effectId: 'run_1.1', args: { effectId: 5 } }

    expect(JSON.parse(toEventPayload('tool.execute.start', JSON.stringify(payload)))).toEqual({
      ...{ toolCallId: 'a', idempotencyKey: 'run_1.1', args: { effectId: 5 } },
    })
  })

  it.each([
    ['arguments named effectId', 'tool.execute.end', '{"args":{"effectId":5}, "toolCallId":"a"}'],
    ['a denial', 'approval.resolved', '{"decision":"denied", "payload":{"decision":"granted"}}'],
    ['a decision of this version', 'approval.resolved', '{"decision":"approved", "by":"granted"}'],
    ['an audit entry', 'audit.appended', '{"detail":{"granted":true}, "decision":"granted"}'],
    ['an event of an agent', 'order.granted', '{"decision":"granted"}'],
  ])('leaves %s as it is', (_, type, payload) => {
    expect(toEventPayload(type, payload)).toBe(payload)
  })
})
