import { OPERATOR_ID } from '@perdure/protocol'
import { describe, expect, it } from 'vitest'
import { aMessage, anApproval, anEvent, anIdempotencyRecord, aRun, aSession, aStep, aToken } from './builders.ts'

describe('the builders', () => {
  it('make records whose ids a server would accept', () => {
    for (const { id } of [aRun(), aSession(), aToken(), aMessage(), anApproval()]) expect(id).toMatch(OPERATOR_ID)
    expect(anIdempotencyRecord().id).toMatch(/^[0-9a-f]{64}$/)
  })

  it('take every field that is given over their own', () => {
    expect(aRun({ id: 'mine', status: 'running', userId: 'u' })).toEqual({
      ...aRun(),
      id: 'mine',
      status: 'running',
      userId: 'u',
    })
    expect(anEvent({ topic: 't' })).toEqual({ ...anEvent(), topic: 't' })
  })

  it('give tokens of different ids different digests', () => {
    expect(aToken({ id: 'a' }).digest).not.toBe(aToken({ id: 'b' }).digest)
  })

  it('make a message for the session they make', () => {
    expect(aMessage().sessionId).toBe(aSession().id)
  })

  it('make a call and an approval for the run they make', () => {
    const { id, kind, targetId, owner } = aRun()

    expect(aStep().runId).toBe(id)
    expect(anApproval()).toMatchObject({ runId: id, kind, targetId, owner })
  })
})
