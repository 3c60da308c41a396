import { toJsonText } from '@perdure/ports'
import { describe, expect, it } from 'vitest'
import { callerOfRun, callerProblem, factsOf, NO_CALLER, toCallerText } from './caller.ts'

describe('callerProblem', () => {
  const cycle: Record<string, unknown> = {}
  cycle.self = cycle

  it.each<[string, object, string]>([
    ['an empty name', { name: '' }, 'name must be'],
    ['a name that is a number', { name: 7 }, 'name must be'],
    ['a name of 257 characters', { name: 'a'.repeat(257) }, 'name must be'],
    ['a name with half a character', { name: '\ud800' }, 'name must be'],
    ['claims that are a list', { claims: ['pro'] }, 'claims must be an object'],
    ['claims with a cycle', { claims: cycle }, 'without BigInt or circular references'],
    ['claims with a BigInt', { claims: { n: 1n } }, 'without BigInt or circular references'],
    ['claims of more than 4,096 bytes', { claims: { text: 'ü'.repeat(2_050) } }, 'more than 4096 bytes'],
  ])('refuses %s', (_, facts, problem) => {
    expect(callerProblem(facts)).toContain(problem)
  })

  it('accepts facts up to the limit, and none', () => {
    expect(callerProblem({})).toBeUndefined()
    expect(
      callerProblem({ name: 'Alice', claims: { plan: 'pro', teams: ['a'], nested: { since: 2020 } } }),
    ).toBeUndefined()
    expect(callerProblem({ claims: { text: 'x'.repeat(4_072) } })).toBeUndefined()
  })
})

describe('factsOf', () => {
  it('returns the named claims and no others', () => {
    expect(factsOf({ plan: 'pro', email: 'a@b.test', secret: 's' }, ['plan', 'email', 'missing'])).toEqual({
      name: undefined,
      claims: { plan: 'pro', email: 'a@b.test' },
    })
  })

  it('takes the name from the claim name only if that is let through and is a text', () => {
    expect(factsOf({ name: 'Alice' }, ['name']).name).toBe('Alice')
    expect(factsOf({ name: 'Alice' }, ['plan']).name).toBeUndefined()
    expect(factsOf({ name: 7 }, ['name'])).toEqual({ name: undefined, claims: { name: 7 } })
  })

  it('reads nothing that the JWT inherits', () => {
    expect(factsOf({}, ['constructor', '__proto__']).claims).toEqual({})
  })
})

describe('callerOfRun', () => {
  it('names the owner, with empty claims if nothing is known', () => {
    const empty = { subject: 'alice', name: undefined, claims: {} }

    expect(callerOfRun({ owner: 'alice' })).toEqual(empty)
    expect(callerOfRun({ owner: 'alice', caller: NO_CALLER })).toEqual(empty)
  })

  it('returns what was stored, also a claim that is named like a member of every object', () => {
    const caller = toCallerText({ name: 'Alice', claims: JSON.parse('{"__proto__":{"admin":true},"plan":"pro"}') })
    const { name, claims } = callerOfRun({ owner: 'alice', caller })

    expect(name).toBe('Alice')
    expect(claims.plan).toBe('pro')
    expect(claims.admin).toBeUndefined()
    expect(toJsonText(claims)).toBe('{"__proto__":{"admin":true},"plan":"pro"}')
  })

  it('cannot be changed by the code of a run, at any depth', () => {
    const caller = callerOfRun({
      owner: 'alice',
      caller: toCallerText({ claims: { plan: 'free', teams: [{ id: 1 }] } }),
    })
    const { teams } = caller.claims
    const [team] = Array.isArray(teams) ? teams : []

    expect(() => Object.assign(caller, { subject: 'bob' })).toThrow(TypeError)
    expect(() => Object.assign(caller.claims, { plan: 'pro' })).toThrow(TypeError)
    expect(() => Array.isArray(teams) && teams.push({ id: 2 })).toThrow(TypeError)
    expect(() => Object.assign(team, { id: 3 })).toThrow(TypeError)
    expect(caller).toEqual({ subject: 'alice', name: undefined, claims: { plan: 'free', teams: [{ id: 1 }] } })
  })
})
