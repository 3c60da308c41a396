import { type EpochMs, EVERY_ROW } from '@perdure/ports'
import {
  DUE_JOBS,
  deadLettersQuery,
  factListQuery,
  factVectorQuery,
  IDLE_SESSIONS,
  memoryListQuery,
  NEXT_JOB,
  OPEN_CONFLICTS_OF_FACTS,
  repeatedQuery,
  UPKEEP,
} from '@perdure/storage/queries'
import { describe, expect, it } from 'vitest'
import { FACT_TEXTS, factSearchQuery } from './facts.ts'
import { beyond, ME, planOf } from './query-plans.fixture.ts'

describe('a query on memory', () => {
  const at = { now: 0 as EpochMs }

  it.each([
    ['facts_by_creation', { visibility: EVERY_ROW }],
    ['facts_by_owner', { visibility: ME }],
    ['facts_by_namespace', { visibility: EVERY_ROW, namespace: 'work' }],
    ['facts_by_namespace', { visibility: ME, namespace: 'work' }],
    ['facts_by_owner', { visibility: EVERY_ROW, owner: 'me', sourceSessionId: 'ses' }],
    ['facts_by_session', { visibility: ME, sourceSessionId: 'ses' }],
    ['facts_by_creation', { visibility: EVERY_ROW, tags: ['a'] }],
  ] as const)('lists facts in the order of index %s for filter %o', (index, filter) => {
    const plan = planOf(factListQuery({ filter: { ...at, ...filter }, page: beyond }))

    expect(plan).toContain(`USING INDEX ${index}`)
    expect(plan).not.toMatch(/TEMP B-TREE FOR ORDER|MULTI-INDEX/)
    expect(planOf(factVectorQuery({ ...at, ...filter }))).toContain(`USING INDEX ${index}`)
  })

  it.each([{ visibility: EVERY_ROW }, { visibility: ME, namespace: 'work', tags: ['a'] }] as const)(
    'starts a full-text search at the word index, in descending order, for filter %o',
    (filter) => {
      const plan = planOf(factSearchQuery({ ...at, ...filter }))

      expect(plan).toMatch(/^SCAN fact_words VIRTUAL TABLE INDEX 192:M1; SEARCH facts USING INTEGER PRIMARY KEY/)
      expect(plan).not.toContain('TEMP B-TREE')
    },
  )

  it('reads the texts to rank in the order of their keys, by their primary key', () => {
    expect(planOf(FACT_TEXTS)).toMatch(/^SCAN wanted VIRTUAL TABLE INDEX 1:; SEARCH facts USING INTEGER PRIMARY KEY/)
  })

  it('finds the facts for upkeep through an index', () => {
    expect(planOf(UPKEEP.expired)).toContain('USING INDEX facts_by_expiry (expires_at<?)')
    expect(planOf(UPKEEP.expiredOfOwner)).toContain('USING INDEX facts_by_expiry (expires_at<?)')
    expect(planOf(UPKEEP.weighed)).toContain('USING INDEX facts_by_weight (weighed_at<?)')
    expect(planOf(UPKEEP.weighedOfOwner)).toContain('USING INDEX facts_owner_weight (owner=? AND weighed_at<?)')
    expect(planOf(UPKEEP.unembedded)).toContain('USING INDEX facts_unembedded')
    for (const query of [repeatedQuery({}), repeatedQuery({ owner: 'me' })]) {
      expect(planOf(query)).toContain('USING COVERING INDEX facts_by_fingerprint')
      expect(planOf(query)).not.toContain('TEMP B-TREE')
    }
  })

  it.each([
    ['_by_creation', { visibility: EVERY_ROW }],
    ['_by_owner', { visibility: ME }],
    ['_by_namespace', { visibility: ME, namespace: 'work' }],
  ] as const)('lists blocks and conflicts through index %s for request %o', (index, request) => {
    expect(planOf(memoryListQuery('blocks', { ...request, page: beyond }))).toContain(`USING INDEX blocks${index}`)
    expect(planOf(memoryListQuery('memory_conflicts', { ...request, page: beyond }))).toContain(
      `USING INDEX memory_conflicts${index}`,
    )
  })

  it('finds the open conflicts of facts by fact id', () => {
    const plan = planOf(OPEN_CONFLICTS_OF_FACTS)

    expect(plan).toContain('memory_conflicts_open (fact_id=?)')
    expect(plan).toContain('memory_conflicts_open_other (other_fact_id=?)')
  })
})

describe('a query of the consolidator', () => {
  it('finds jobs or sessions in index order', () => {
    for (const query of [DUE_JOBS, NEXT_JOB]) expect(planOf(query)).toMatch(/USING (COVERING )?INDEX jobs_due/)
    expect(planOf(deadLettersQuery(beyond))).toContain('USING INDEX jobs_dead')
    const plan = planOf(IDLE_SESSIONS)

    expect(plan).toContain('changed_sessions_by_change (changed_at<?)')
    expect(plan).toContain('runs_by_session (session_id=?)')
    expect(plan).not.toContain('TEMP B-TREE')
  })
})
