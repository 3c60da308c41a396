import { aSession } from '@perdure/testkit'
import { describe, expect, it } from 'vitest'
import { authorizeSessionUse } from './authorize-session-use.ts'

const session = aSession({ id: 'chat', owner: 'alice' })

describe('authorizeSessionUse', () => {
  it('lets the owner use a session, whatever scopes there are', () => {
    expect(authorizeSessionUse({ subject: 'alice', scopes: [] }, session)).toBe(true)
  })

  it.each([
    [['sessions:write'], true],
    [['sessions:write:chat'], true],
    [['sessions:*'], true],
    [['admin:*'], true],
    [['sessions:write:own'], false],
    [['sessions:write:other'], false],
    [['sessions:read'], false],
    [[], false],
  ])('answers somebody else who holds %j with %j', (scopes, expected) => {
    expect(authorizeSessionUse({ subject: 'bob', scopes }, session)).toBe(expected)
  })
})
