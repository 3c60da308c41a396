import type { RunError } from '@perdure/ports'
import { describe, expect, it } from 'vitest'
import { toRunError } from './run-error-row.ts'

describe('toRunError', () => {
  it('reads the kind of an earlier error as its code', () => {
    expect(toRunError('{"kind":"validation-failed","message":"m"}')).toEqual({
      code: 'validation-failed',
      message: 'm',
    })
  })

  it('reads every member of an error', () => {
    const error: RunError = {
      code: 'step-failed',
      message: 'charge: declined',
      step: { seq: 2, name: 'charge' },
      cause: [{ name: 'Error', message: 'declined' }],
      stack: 'Error: declined\n    at charge (agents/pay.ts:1:2)',
    }

    expect(toRunError(JSON.stringify(error))).toEqual(error)
  })
})
