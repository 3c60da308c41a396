import { createHash } from 'node:crypto'
import type { ApprovalItem } from '@perdure/core'
import { type ApprovalRecord, toJsonText } from '@perdure/ports'
import { describe, expect, it } from 'vitest'
import { type Answering, type AnswersDeps, takeAnswer } from './answers.ts'
import { approvalQuestion } from './elicitation.ts'

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')
const LONG = { letter: 'x'.repeat(2_500), andAlso: 'WIRE 1000000 TO MALLORY' }

const questionOf = (payload: unknown) => {
  const item: ApprovalItem = { kind: 'approval', id: 'apr_1', runId: 'run_1', name: 'pay', status: 'pending', payload }
  return (approvalQuestion(item).params({ sha256 }) as { readonly message: string }).message
}

describe('approvalQuestion', () => {
  it('shows a short request as it is', () => {
    expect(questionOf({ amount: 10 })).toBe('pay\n\n{"amount":10}')
  })

  it('says that a long request is cut, how long it is, what its hash is and where to decide it', () => {
    const message = questionOf(LONG)

    expect(message).not.toContain('MALLORY')
    const text = JSON.stringify(LONG)
    expect(message).toContain(`… cut: the request has ${text.length} characters and the SHA-256 ${sha256(text)}.`)
    expect(message).toContain('perdure approvals approve apr_1')
  })
})

describe('takeAnswer', () => {
  const answer = (payload: unknown, content: object) => {
    const approval = { id: 'apr_1', runId: 'run_1', status: 'pending', payload: toJsonText(payload) } as ApprovalRecord
    const decided: unknown[] = []
    const deps = {
      approvals: { find: async () => approval },
      runs: { find: async () => ({ id: 'run_1' }) },
      resolveApproval: async (request: unknown) => void decided.push(request),
      resumeRun: async (request: unknown) => void decided.push(request),
    } as unknown as AnswersDeps
    const caller: Answering = { principal: { subject: 'ann', scopes: [] }, visibility: { owner: 'ann' } }
    return takeAnswer(deps, caller, 'apr_1', { action: 'accept', content }).then((taken) => ({ taken, decided }))
  }

  it('approves nothing of which the question showed only the beginning', async () => {
    expect(await answer(LONG, { approved: true })).toEqual({ taken: 'nothing', decided: [] })
  })

  it('passes the denial of a long request, and the approval of a short one', async () => {
    expect((await answer(LONG, { approved: false })).decided).toHaveLength(1)
    expect((await answer({ amount: 10 }, { approved: true })).decided).toHaveLength(1)
  })
})
