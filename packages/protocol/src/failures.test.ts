import { describe, expect, it } from 'vitest'
import { PROVIDER_FAILURES, PROVIDER_STATUS_RULES, TOOL_FAILURES } from './failures.ts'

const ruleFor = (status: number) =>
  PROVIDER_STATUS_RULES.find(({ statuses }) => statuses.some(([first, last]) => first <= status && status <= last))

describe('TOOL_FAILURES', () => {
  it('lists the kinds of the interface document', () => {
    expect(Object.keys(TOOL_FAILURES).toSorted()).toEqual(
      [
        'approval_denied',
        'sandbox_violation',
        'timeout',
        'invalid_input',
        'invalid_output',
        'execution_failed',
        'unknown_tool',
        'aborted',
        'inbound_sanitization_blocked',
        'dataflow_policy_blocked',
        'capability_blocked',
        'rate_limited',
      ].toSorted(),
    )
  })
})

describe('PROVIDER_FAILURES', () => {
  it('lists the kinds of the interface document', () => {
    expect(Object.keys(PROVIDER_FAILURES).toSorted()).toEqual(
      [
        'rate-limit',
        'capacity',
        'context-length',
        'transient',
        'invalid-request',
        'unauthorized',
        'content-filter',
        'unknown',
      ].toSorted(),
    )
  })
})

describe('PROVIDER_STATUS_RULES', () => {
  it.each([
    [0, 'transient', true],
    [429, 'rate-limit', true],
    [401, 'unauthorized', false],
    [403, 'unauthorized', false],
    [400, 'invalid-request', false],
    [404, 'invalid-request', false],
    [422, 'invalid-request', false],
    [503, 'capacity', true],
    [529, 'capacity', true],
    [500, 'transient', true],
    [502, 'transient', true],
    [504, 'transient', true],
    [599, 'transient', true],
    [402, 'unknown', false],
    [418, 'unknown', false],
    [302, 'unknown', false],
  ])('classifies status %i as %s', (status, kind, retryable) => {
    expect(ruleFor(status)).toMatchObject({ kind, retryable })
  })

  it('classifies every status', () => {
    const missing = Array.from({ length: 1_000 }, (_, status) => status).filter((status) => !ruleFor(status))
    expect(missing).toEqual([])
  })

  it('honours Retry-After only for the rate limit and detects a long context only in invalid requests', () => {
    expect(PROVIDER_STATUS_RULES.filter((rule) => rule.honoursRetryAfter)).toEqual([ruleFor(429)])
    expect(PROVIDER_STATUS_RULES.filter((rule) => rule.kindOfLongContext === 'context-length')).toEqual([ruleFor(400)])
  })
})
