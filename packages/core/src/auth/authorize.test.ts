import { EVERY_ROW, type Visibility } from '@perdure/ports'
import type { ScopeRule } from '@perdure/protocol'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { authorize } from './authorize.ts'

const ALICE = 'alice'
const holding = (...scopes: string[]) => ({ subject: ALICE, scopes })

const decide = (scopes: readonly string[], rule: ScopeRule, params: Readonly<Record<string, string>> = {}) => {
  try {
    return authorize(holding(...scopes), rule, params)
  } catch (error) {
    expect(error).toMatchObject({ kind: 'scope-denied' })
    return 'denied'
  }
}

const OWN: Visibility = { owner: ALICE }

describe('authorize', () => {
  it('allows everyone if the rule names no scope', () => {
    expect(decide([], null)).toBe(EVERY_ROW)
    expect(decide([], 'principal')).toBe(EVERY_ROW)
  })

  it.each<[string, string, Visibility | 'denied']>([
    ['agents:read:echo', 'agents:read', EVERY_ROW],
    ['agents:read:echo', 'agents:read:*', EVERY_ROW],
    ['agents:read:echo', 'agents:read:echo', EVERY_ROW],
    ['agents:read:echo', 'agents:*', EVERY_ROW],
    ['agents:read:echo', 'agents:*:echo', EVERY_ROW],
    ['agents:read:echo', 'admin:*', EVERY_ROW],
    ['agents:read:echo', 'agents:read:other', 'denied'],
    ['agents:read:echo', 'agents:*:other', 'denied'],
    ['agents:read:echo', 'agents:invoke', 'denied'],
    ['agents:read:echo', 'agents:read:own', 'denied'],
    ['agents:read:echo', 'sessions:read', 'denied'],
    ['agents:read:echo', 'admin:*:echo', 'denied'],
    ['agents:read:echo', 'admin:read', 'denied'],
    ['agents:read:echo', 'not a scope', 'denied'],
    ['agents:read:own', 'agents:read:own', EVERY_ROW],
    ['sessions:read:chat', 'sessions:read:own', OWN],
    ['sessions:read:chat', 'sessions:*:own', OWN],
    ['sessions:read:chat', 'sessions:read:other', 'denied'],
    ['approvals:resolve:apr', 'approvals:resolve:own', OWN],
  ])('checks %s: the scope %s gives access to %j', (wanted, held, visibility) => {
    const [resource, action, id = ''] = wanted.split(':')

    expect(decide([held], `${resource}:${action}:{id}` as ScopeRule & string, { id })).toEqual(visibility)
  })

  it('applies the wider of two grants', () => {
    const rule = 'sessions:read:{sessionId}' as const

    expect(decide(['sessions:read:own', 'sessions:read'], rule, { sessionId: 'x' })).toBe(EVERY_ROW)
    expect(decide(['sessions:read:own', 'sessions:read:x'], rule, { sessionId: 'x' })).toBe(EVERY_ROW)
    expect(decide(['sessions:read:own', 'sessions:read:y'], rule, { sessionId: 'x' })).toEqual(OWN)
  })

  it('requires a scope without an id if the rule names no id', () => {
    expect(decide(['tokens:read'], 'tokens:read')).toBe(EVERY_ROW)
    expect(decide(['tokens:read:tok_1'], 'tokens:read')).toBe('denied')
    expect(decide(['sessions:read:own'], 'sessions:read')).toEqual(OWN)
  })

  it('names the missing scope in the hint', () => {
    const hintOf = (rule: ScopeRule, params = {}) => {
      try {
        authorize(holding(), rule, params)
      } catch (error) {
        return (error as { readonly hint: string }).hint
      }
    }

    expect(hintOf('agents:read:{agentId}', { agentId: 'echo' })).toContain('agents:read:echo')
    expect(hintOf('tokens:read')).toContain('tokens:read')
    expect(hintOf('traces:read:raw')).toContain('traces:read:raw')
    expect(hintOf({ anyOf: ['runs:read:{runId}', 'agents:read:{agentId}'] })).toContain(' or ')
  })

  it.each<[string, string, Visibility | 'denied']>([
    ['traces:read:sanitized', 'traces:read:sanitized', EVERY_ROW],
    ['traces:read:sanitized', 'traces:read:raw', EVERY_ROW],
    ['traces:read:raw', 'traces:read:raw', EVERY_ROW],
    ['traces:read:raw', 'traces:read:sanitized', 'denied'],
    ['traces:read:raw', 'traces:read', 'denied'],
    ['traces:read:raw', 'traces:*', 'denied'],
    ['traces:read:raw', 'traces:read:*', 'denied'],
    ['traces:read:raw', 'admin:*', EVERY_ROW],
    ['admin:metrics:read', 'admin:metrics:read', EVERY_ROW],
    ['admin:metrics:read', 'admin:metrics', 'denied'],
    ['admin:metrics:read', 'admin:metrics:*', 'denied'],
    ['admin:metrics:read', 'admin:*', EVERY_ROW],
  ])('checks the literal %s: the scope %s gives access to %j', (rule, held, visibility) => {
    expect(decide([held], rule as ScopeRule)).toEqual(visibility)
  })

  it('checks only the member scope of a rule that also has other members', () => {
    const metrics = { scope: 'admin:metrics:read', whenConfig: 'metrics.requireAuth' } as const
    const replay = { scope: 'traces:read:sanitized', rawScope: 'traces:read:raw' } as const

    expect(decide(['admin:metrics:read'], metrics)).toBe(EVERY_ROW)
    expect(decide(['traces:read:sanitized'], replay)).toBe(EVERY_ROW)
    expect(decide(['agents:read'], replay)).toBe('denied')
  })

  const RUN_RULE = {
    anyOf: ['runs:read:{runId}', 'agents:read:{agentId}', 'workflows:read:{workflowId}'],
  } as ScopeRule

  it.each<[readonly string[], Visibility | 'denied']>([
    [['runs:read'], EVERY_ROW],
    [['admin:*'], EVERY_ROW],
    [['runs:read:run_1', 'runs:read:run_2'], { ids: ['run_1', 'run_2'] }],
    [['runs:read:own'], OWN],
    [['agents:read'], { agentIds: 'all' }],
    [['agents:read:echo', 'agents:read:other'], { agentIds: ['echo', 'other'] }],
    [['workflows:read'], { workflowIds: 'all' }],
    [['workflows:read:w'], { workflowIds: ['w'] }],
    [
      ['runs:read:own', 'runs:read:run_1', 'agents:read:echo', 'workflows:*'],
      { owner: ALICE, ids: ['run_1'], agentIds: ['echo'], workflowIds: 'all' },
    ],
    [['agents:invoke', 'sessions:read'], 'denied'],
    [[], 'denied'],
  ])('gives the scopes %j access to the runs %j', (scopes, visibility) => {
    expect(decide(scopes, RUN_RULE)).toEqual(visibility)
  })

  it('never removes rows when a scope is added', () => {
    const scope = fc.constantFrom(
      ...['runs:read', 'runs:read:own', 'runs:read:r1', 'runs:*', 'agents:read', 'agents:read:a1', 'agents:*:a2'],
      ...['workflows:read', 'workflows:read:w1', 'sessions:read', 'admin:*', 'nonsense', 'runs:read:own:x'],
    )
    const rows = ['r1', 'r2'].flatMap((id) =>
      [{ agentId: 'a1' }, { agentId: 'a2' }, { workflowId: 'w1' }].flatMap((target) =>
        [ALICE, 'bob'].map((owner) => ({ id, owner, ...target })),
      ),
    )
    fc.assert(
      fc.property(fc.array(scope, { maxLength: 4 }), scope, (scopes, added) => {
        const before = rows.filter((row) => sees(decide(scopes, RUN_RULE), row))
        const after = decide([...scopes, added], RUN_RULE)

        expect(before.every((row) => sees(after, row))).toBe(true)
      }),
    )
  })
})

interface Row {
  readonly id: string
  readonly owner: string
  readonly agentId?: string
  readonly workflowId?: string
}

function sees(visibility: Visibility | 'denied', { id, owner, agentId, workflowId }: Row): boolean {
  if (visibility === 'denied') return false
  if (visibility === EVERY_ROW) return true
  const { ids, agentIds, workflowIds } = visibility
  const has = (list: readonly string[] | 'all' | undefined, value: string | undefined) =>
    value !== undefined && (list === 'all' || list?.includes(value) === true)
  return visibility.owner === owner || has(ids, id) || has(agentIds, agentId) || has(workflowIds, workflowId)
}
