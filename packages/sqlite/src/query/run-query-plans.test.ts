import { type EpochMs, EVERY_ROW, type RunFilter, type Visibility } from '@perdure/ports'
import {
  listQuery,
  NEEDING_FOLLOW_UP,
  NEXT_DEADLINE,
  NEXT_START,
  PAST_DEADLINE,
  REMOVE_FOLLOW_UP,
  RUN_OWNERS,
  type RunPath,
  runCounts,
  runPaths,
  STARTING,
} from '@perdure/storage/queries'
import { describe, expect, it } from 'vitest'
import { beyond, ME, MIXED, newest, planOf } from './query-plans.fixture.ts'

const at = 1_700_000_000_000 as EpochMs

describe('the list of runs', () => {
  const lists: readonly (readonly [index: string, RunFilter, Visibility])[] = [
    ['runs_by_creation', {}, EVERY_ROW],
    ['runs_by_creation', { statuses: ['completed'] }, EVERY_ROW],
    ['runs_by_creation', {}, MIXED],
    ['runs_by_creation', {}, { agentIds: ['a', 'b'] }],
    ['runs_by_creation', {}, { agentIds: 'all' }],
    ['runs_by_owner', {}, ME],
    ['runs_by_target', { targetId: 'echo', kind: 'agent' }, EVERY_ROW],
    ['runs_by_target', { targetId: 'echo', kind: 'agent' }, ME],
    ['runs_by_target', {}, { agentIds: ['echo'] }],
    ['runs_by_session', { sessionId: 'ses' }, EVERY_ROW],
    ['runs_by_session', { sessionId: 'ses' }, ME],
    ['runs_by_session', { sessionId: 'ses', targetId: 'echo' }, { agentIds: ['echo'] }],
    ['runs_by_thread', { threadId: 'thr', targetId: 'nightly', kind: 'workflow' }, EVERY_ROW],
    ['runs_by_thread', { threadId: 'thr', targetId: 'nightly', kind: 'workflow' }, { workflowIds: ['nightly'] }],
    ['runs_by_thread', { threadId: 'thr', statuses: ['suspended'] }, ME],
    ['runs_by_parent', { parentRunId: 'run' }, ME],
    ['runs_by_parent', { parentRunId: 'run', statuses: ['queued', 'running', 'suspended'] }, EVERY_ROW],
    ['runs_active', { statuses: ['queued'] }, EVERY_ROW],
    ['runs_active', { statuses: ['running'] }, ME],
    ['runs_active', { statuses: ['queued'], targetId: 'echo' }, EVERY_ROW],
    ['runs_unsuccessful', { statuses: ['failed'] }, EVERY_ROW],
  ]

  it.each(lists)('uses the order of index %s for filter %o and visibility %o', (index, filter, visibility) => {
    for (const page of [newest, beyond]) {
      const plan = planOf(listQuery({ filter, page, visibility }))

      expect(plan).toContain(`USING INDEX ${index}`)
      expect(plan).not.toMatch(/TEMP B-TREE|MULTI-INDEX/)
    }
  })

  it.each([
    [{}, EVERY_ROW],
    [{ targetId: 'echo' }, EVERY_ROW],
    [{}, ME],
    [{}, { agentIds: ['echo'] }],
  ] as const)('sorts only active runs for several active statuses, filter %o and visibility %o', (more, visibility) => {
    const filter: RunFilter = { statuses: ['queued', 'running'], ...more }

    expect(planOf(listQuery({ filter, page: newest, visibility }))).toContain('USING INDEX runs_active')
  })

  const fieldLists: readonly (readonly [RunFilter, Visibility])[] = [
    [{ userId: 'ada' }, EVERY_ROW],
    [{ metadata: { ticket: '17' } }, ME],
    [{ metadata: { ticket: '17', tier: 'gold' }, userId: 'ada' }, MIXED],
    [{ tag: 'slow', statuses: ['failed'] }, { agentIds: ['echo'] }],
    [{ code: 'timeout', statuses: ['failed', 'aborted'], targetId: 'echo', since: at, until: at }, EVERY_ROW],
    [{ finishReason: 'error', owner: 'bob', since: at }, EVERY_ROW],
    [{ version: '2', statuses: ['queued', 'running'] }, ME],
    [{ debounce: 'k', statuses: ['queued'], targetId: 'echo', owner: 'bob' }, EVERY_ROW],
  ]

  it.each(fieldLists)(
    'walks the index of run fields in list order for filter %o and visibility %o',
    (filter, visibility) => {
      for (const page of [newest, beyond]) {
        const plan = planOf(listQuery({ filter, page, visibility }))

        expect(plan).toMatch(/SEARCH run_fields USING PRIMARY KEY \(field=\? AND value=\?/)
        expect(plan).toContain('SEARCH runs USING INTEGER PRIMARY KEY')
        // Runs that were created in the same millisecond are sorted by id.
        expect(plan.replaceAll('TEMP B-TREE FOR LAST TERM', '')).not.toMatch(/TEMP B-TREE|MULTI-INDEX/)
      }
    },
  )

  it.each([
    ['runs_by_owner', { owner: 'bob' }],
    ['runs_by_session', { sessionId: 'ses', finishReason: 'error', owner: 'bob' }],
    ['runs_parked', { isParked: true }],
    ['runs_roots_by_session', { isRoot: true, sessionId: 'ses', targetId: 'echo', kind: 'agent' }],
    ['runs_turns_by_session', { isTurn: true, sessionId: 'ses', targetId: 'echo', kind: 'agent' }],
    ['runs_by_creation', { isRoot: true }],
    ['runs_by_creation', { until: at }],
    ['runs_by_creation', { finishReason: 'completed' }],
  ] as const)('uses the order of index %s for filter %o', (index, filter) => {
    const plan = planOf(listQuery({ filter, page: beyond, visibility: EVERY_ROW }))

    expect(plan).toContain(`USING INDEX ${index}`)
    expect(plan).not.toMatch(/TEMP B-TREE|MULTI-INDEX/)
  })

  const pathLists: readonly (readonly [RunPath, string, RunFilter, Visibility])[] = [
    ['field1', 'run_fields USING PRIMARY KEY', { metadata: { env: 'prod', ticket: '17' } }, EVERY_ROW],
    ['owner', 'runs USING INDEX runs_by_owner', { owner: 'bob', userId: 'ada' }, EVERY_ROW],
    ['visible', 'runs USING INDEX runs_by_owner', { metadata: { env: 'prod' } }, ME],
    ['visible', 'runs USING INDEX runs_by_owner', { targetId: 'echo', statuses: ['failed'] }, ME],
    ['targetId', 'runs USING INDEX runs_by_target', { targetId: 'echo', statuses: ['suspended'] }, EVERY_ROW],
    ['active', 'runs USING INDEX runs_active', { code: 'timeout', statuses: ['suspended'], owner: 'bob' }, ME],
    ['unsuccessful', 'runs USING INDEX runs_unsuccessful', { targetId: 'echo', statuses: ['failed'] }, EVERY_ROW],
  ]

  it.each(pathLists)(
    'walks only the index of path %s, %s, for filter %o and visibility %o',
    (path, index, ...listed) => {
      const [filter, visibility] = listed
      for (const page of [newest, beyond]) {
        const plan = planOf(listQuery({ filter, page, visibility }, { path }))

        expect(runPaths({ filter, visibility })).toContain(path)
        expect(plan).toContain(`SEARCH ${index}`)
        expect(plan.replaceAll('TEMP B-TREE FOR LAST TERM', '')).not.toMatch(/TEMP B-TREE|MULTI-INDEX|SCAN/)
      }
    },
  )

  it('counts the rows of each path in an index, without reading a run', () => {
    for (const [, , filter, visibility] of pathLists) {
      for (const more of [{}, { since: at, until: at }]) {
        const plan = planOf(runCounts({ filter: { ...filter, ...more }, visibility }))
        const reads = plan.split('; ').filter((step) => /runs|run_fields/.test(step))

        expect(reads).toHaveLength(runPaths({ filter, visibility }).length)
        for (const read of reads) expect(read).toMatch(/COVERING INDEX|run_fields USING PRIMARY KEY/)
      }
    }
  })

  it('looks up runs by id when the filter lists run ids', () => {
    const plan = planOf(listQuery({ filter: { ids: ['a'] }, page: newest, visibility: EVERY_ROW }))

    expect(plan).toContain('SEARCH runs USING INTEGER PRIMARY KEY')
  })

  it.each(lists)(
    'reads lengths of texts in the order of index %s for filter %o and visibility %o',
    (index, filter, visibility) => {
      const plan = planOf(listQuery({ filter, page: newest, visibility }, { reading: 'outline' }))

      expect(plan).toContain(`USING INDEX ${index}`)
      expect(plan).not.toMatch(/TEMP B-TREE|MULTI-INDEX/)
    },
  )

  it('looks up runs by id when the visibility lists run ids', () => {
    const plan = planOf(listQuery({ filter: {}, page: newest, visibility: { ids: ['a', 'b'] } }))

    expect(plan).toContain('SEARCH runs USING INTEGER PRIMARY KEY')
  })
})

describe('the query for the owners of runs', () => {
  it('searches an index for each owner', () => {
    const plan = planOf(RUN_OWNERS)

    expect(plan).toMatch(/SEARCH runs USING COVERING INDEX runs_by_owner \(owner>\?/)
    expect(plan).not.toMatch(/SCAN runs/)
  })
})

describe('a query on start times', () => {
  it('uses the order of the index of delayed runs', () => {
    for (const query of [STARTING, NEXT_START]) {
      const plan = planOf(query)

      expect(plan).toContain('USING INDEX runs_by_start (start_at')
      expect(plan.replaceAll('TEMP B-TREE FOR LAST TERM', '')).not.toContain('TEMP B-TREE')
    }
  })
})

describe('a query on run deadlines', () => {
  it('uses the order of the deadline index, which covers active runs only', () => {
    for (const query of [PAST_DEADLINE, NEXT_DEADLINE]) {
      const plan = planOf(query)

      expect(plan).toContain('USING INDEX runs_by_deadline (deadline_at')
      expect(plan).not.toContain('TEMP B-TREE')
    }
  })
})

describe('the follow-ups of runs', () => {
  it('are found and removed by the keys of the runs', () => {
    expect(planOf(NEEDING_FOLLOW_UP)).toMatch(/SCAN run_follow_ups.*SEARCH runs USING INTEGER PRIMARY KEY/s)
    expect(planOf(NEEDING_FOLLOW_UP)).not.toContain('TEMP B-TREE')
    expect(planOf(REMOVE_FOLLOW_UP)).toMatch(/SEARCH run_follow_ups USING INTEGER PRIMARY KEY/)
  })
})
