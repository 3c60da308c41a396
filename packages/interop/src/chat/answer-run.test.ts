import { EVERY_ROW, perdureError, type Refusal } from '@perdure/ports'
import { anApproval } from '@perdure/testkit'
import { describe, expect, it } from 'vitest'
import { type AnswerRunDeps, answerRun, type Decider } from './answer-run.ts'

const DECIDER: Decider = {
  principal: {
    subject: 'ana',
    scopes: ['approvals:resolve'],
    origin: { requestId: 'r1', method: 'POST', route: '/v1/mcp', ip: '127.0.0.1' },
  },
  visibility: EVERY_ROW,
  via: { protocol: 'mcp' },
}
const ofCall = (id: string) => ({ approval: anApproval({ id, seq: 1 }), approved: true })
const ofSuspension = (id: string) => ({ approval: anApproval({ id, seq: undefined }), approved: true })

/** Takes decisions, except for the approvals that are named with an error. */
function deciding(resumeError: Refusal | undefined, errors: Readonly<Record<string, Refusal>> = {}) {
  const taken: object[] = []
  const deps: AnswerRunDeps = {
    async resumeRun(request) {
      if (resumeError !== undefined) throw resumeError
      taken.push(request)
      return { status: 202 }
    },
    async resolveApproval(request) {
      const { [request.approvalId]: error } = errors
      if (error !== undefined) throw error
      taken.push(request)
      return { status: 200 }
    },
  }
  return { deps, taken }
}

describe('answerRun', () => {
  it('passes the decisions and the results of tools separately when they cannot continue the run together', async () => {
    const taken: object[] = []
    const deps: AnswerRunDeps = {
      async resumeRun(request) {
        if (request.approvals?.length !== 0) throw perdureError('run-not-suspended')
        taken.push(request)
        return { status: 202 }
      },
      async resolveApproval(request) {
        taken.push(request)
        return { status: 200 }
      },
    }
    const results = [{ toolCallId: 'call_1', result: 'blue' }]

    expect(await answerRun(deps, DECIDER, 'run_1', { decisions: [ofCall('apr_1')], results })).toBe(true)
    expect(taken).toEqual([
      expect.objectContaining({ runId: 'run_1', toolResults: results }),
      expect.objectContaining({ approvalId: 'apr_1' }),
    ])
  })

  it('decides several approvals together', async () => {
    const { deps, taken } = deciding(undefined)

    expect(await answerRun(deps, DECIDER, 'run_1', { decisions: [ofCall('apr_1'), ofSuspension('apr_2')] })).toBe(true)
    expect(taken).toEqual([
      expect.objectContaining({
        approvals: [expect.objectContaining({ id: 'apr_1' }), expect.objectContaining({ id: 'apr_2' })],
      }),
    ])
  })

  it('passes the request of the caller to the inbox, for the audit', async () => {
    const { deps, taken } = deciding(undefined)

    await answerRun(deps, DECIDER, 'run_1', { decisions: [ofCall('apr_1')] })

    expect(taken).toEqual([
      expect.objectContaining({ approvalId: 'apr_1', by: 'ana', origin: DECIDER.principal.origin }),
    ])
  })

  it('takes the other decisions when one approval has been decided meanwhile', async () => {
    const late = perdureError('approval-resolved')
    const { deps, taken } = deciding(late, { apr_1: late })

    expect(await answerRun(deps, DECIDER, 'run_1', { decisions: [ofCall('apr_1'), ofCall('apr_2')] })).toBe(true)
    expect(taken).toEqual([expect.objectContaining({ approvalId: 'apr_2' })])
  })

  it.each(['approval-resolved', 'run-not-suspended', 'run-not-active'] as const)(
    'takes nothing when the answer comes too late: %s',
    async (id) => {
      const error = perdureError(id)
      const { deps } = deciding(error, { apr_1: error, apr_2: error })

      for (const decisions of [[ofCall('apr_1')], [ofSuspension('apr_1')], [ofCall('apr_1'), ofCall('apr_2')]]) {
        expect(await answerRun(deps, DECIDER, 'run_1', { decisions })).toBe(false)
      }
    },
  )

  it('refuses a caller without the right to decide', async () => {
    const { deps, taken } = deciding(undefined)
    const principal = { ...DECIDER.principal, scopes: ['agents:invoke'] }

    await expect(
      answerRun(deps, { ...DECIDER, principal }, 'run_1', { decisions: [ofCall('apr_1')] }),
    ).rejects.toMatchObject({
      code: 'scope-denied',
    })
    expect(taken).toEqual([])
  })
})
