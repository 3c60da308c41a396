import { createInMemoryStorage } from '@perdure/in-memory'
import { plusMs } from '@perdure/ports'
import { anApproval, aRun, aStep, BUILT_AT } from '@perdure/testkit'
import { describe, expect, it } from 'vitest'
import type { ResolveApproval } from '../approvals/resolve-approval.ts'
import { createSupersede } from './supersede.ts'

describe('createSupersede', () => {
  it.each([
    ['an approval that the code has asked for', 'approval', ['asked']],
    ['whether a call that a crash cut off may run again', 'step', []],
  ] as const)('is asked about %s (a call of the kind %s), and denies %o', async (_, kind, denied) => {
    const storage = createInMemoryStorage()
    const turn = aRun({ id: 'turn', status: 'suspended', owner: 'ann' })
    await storage.unitOfWork.commit([
      { type: 'run.insert', run: turn },
      { type: 'step.insert', step: aStep({ runId: 'turn', seq: 3, kind, status: 'waiting', approvalId: 'asked' }) },
      { type: 'approval.insert', approval: anApproval({ id: 'asked', runId: 'turn', seq: 3, createdAt: BUILT_AT }) },
    ])
    const resolved: string[] = []
    const resolveApproval = async ({ approvalId }: Parameters<ResolveApproval>[0]) => void resolved.push(approvalId)
    const supersede = createSupersede({ ...storage, resolveApproval: resolveApproval as unknown as ResolveApproval })

    await supersede(turn, aRun({ id: 'next', owner: 'ann', createdAt: plusMs(BUILT_AT, 5) }))

    expect(resolved).toEqual(denied)
  })
})
