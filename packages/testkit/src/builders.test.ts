import { OPERATOR_ID } from '@perdure/protocol'
import { describe, expect, it } from 'vitest'
import { aMessage, anApproval, anEvent, anIdempotencyRecord, aRun, aSession, aStep, aToken } from './builders.ts'

describe('every builder', () => {
  it('creates a record with an id that a server would accept', () => {
    for (const { id } of [aRun(), aSession(), aToken(), aMessage(), anApproval()]) expect(id).toMatch(OPERATOR_ID)
    expect(anIdempotencyRecord().id).toMatch(/^[0-9a-f]{64}$/)
  })

  it('overrides its defaults with the given fields', () => {
    expect(aRun({ id: 'mine', status: 'running', userId: 'u' })).toEqual({
      ...aRun(),
      id: 'mine',
      status: 'running',
      userId: 'u',
    })
    expect(anEvent({ topic: 't' })).toEqual({ ...anEvent(), topic: 't' })
  })
})

describe('aToken', () => {
  it('gives tokens with different ids different digests', () => {
    expect(aToken({ id: 'a' }).digest).not.toBe(aToken({ id: 'b' }).digest)
  })
})

describe('aMessage', () => {
  it('creates a message in the session that aSession creates', () => {
    expect(aMessage().sessionId).toBe(aSession().id)
  })
})

describe('aStep', () => {
  it('creates a call of the run that aRun creates', () => {
    expect(aStep().runId).toBe(aRun().id)
  })
})

describe('anApproval', () => {
  it('creates an approval for the run that aRun creates', () => {
    const { id, kind, targetId, owner } = aRun()

    expect(anApproval()).toMatchObject({ runId: id, kind, targetId, owner })
  })
})
