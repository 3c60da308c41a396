import { describe, expect, it } from 'vitest'
import type { Event } from '../api/resources.ts'
import { caseOfRun } from './case-of-run.ts'

const event = (type: string, payload: object) => ({ type, payload }) as Event

describe('caseOfRun', () => {
  it('has the input, the decisions by their name or the name of their tool, and the text of the answer', () => {
    const kept = caseOfRun({ id: 'run_1', input: { text: 'Refund A-17' }, result: { text: 'Done.' } }, [
      event('approval.requested', { name: 'refund' }),
      event('approval.resolved', { name: 'refund', decision: 'approved' }),
      event('approval.resolved', { toolName: 'mail', decision: 'denied' }),
    ])

    expect(kept).toEqual({
      ...{ id: 'run_1', input: { text: 'Refund A-17' }, expected: 'Done.' },
      decisions: { refund: true, mail: false },
    })
  })

  it('expects nothing of a run without a text, such as a failed one', () => {
    expect(caseOfRun({ id: 'run_1', input: undefined, result: undefined }, [])).toEqual({ id: 'run_1', input: null })
  })
})
