import { OPERATOR_ID } from '@perdure/protocol'
import { describe, expect, it } from 'vitest'
import { aMessage, anApproval, anEvent, anIdempotencyRecord, aRun, aSession, aStep, aToken } from './builders.ts'

describe('the builders', () => {
  it('create records with ids that a server would accept', () => {
    for (const { id } of [aRun(), aSession(), aToken(), aMessage(), anApproval()]) expect(id).toMatch(OPERATOR_ID)
    expect(anIdempotencyRecord().id).toMatch(/^[0-9a-f]{64}$/)
  })

  it('override their defaults with the given fields', () => {
    expect(aRun({ id: 'mine', status: 'running', userId: 'u' })).toEqual({
      ...aRun(),
      id: 'mine',
      status: 'running',
      userId: 'u',
    })
    expect(anEvent({ topic: 't' })).toEqual({ ...anEvent(), topic: 't' })
  })

  it('give tokens with different ids different digests', () => {
    expect(aToken({ id: 'a' }).digest).not.toBe(aToken({ id: 'b' }).digest)
  })

  it('create a message for the session that aSession creates', () => {
    expect(aMessage().sessionId).toBe(aSession().id)
  })

  it('create a call and an approval for the run that aRun creates', () => {
    const { id, kind, targetId, owner } = aRun()

    expect(aStep().runId).toBe(id)
    expect(anApproval()).toMatchObject({ runId: id, kind, targetId, owner })
  })
})
