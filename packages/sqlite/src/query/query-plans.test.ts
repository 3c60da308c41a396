import { type ApprovalFilter, EVERY_ROW, type Visibility } from '@perdure/ports'
import type { Query } from '@perdure/storage'
import {
  ACTIVE_RUN_OF_THREAD,
  ADOPT_CHILDREN,
  APPROVALS_DUE,
  APPROVALS_OF_RUN,
  APPROVALS_TO_REMIND,
  approvalListQuery,
  COUNT,
  completedQuery,
  completeRecord,
  FIRST_PENDING,
  FREE_HELD_SLOTS,
  fireListQuery,
  interruptRecords,
  LAST_ORDER,
  LEGACY_IDS,
  LIMIT_DESCENDANTS,
  NEXT_APPROVAL_DUE,
  NEXT_REMINDER,
  PENDING_FIRES,
  PRUNE_FIRES,
  PRUNE_SLOTS,
  QUESTION_OF_RUN,
  READ_AFTER,
  READ_BEFORE,
  REDACT_ANSWERS,
  REVOKE_FAMILY,
  REVOKE_TOKENS_OF_SUBJECT,
  RUN_DELETIONS,
  RUN_IDS,
  SELECT_MANY,
  SELECT_REVOCATIONS,
  SELECT_ROOT,
  SELECT_SLOT,
  SESSION_DELETIONS,
  SESSION_QUERIES,
  SESSIONS_IDLE_SINCE,
  STEP_QUERIES,
  sessionCounts,
  sessionListQuery,
  TAKEN_SLOTS,
  THREAD_RUNS,
  TRIGGER_QUERIES,
  USAGE_QUERIES,
} from '@perdure/storage/queries'
import { describe, expect, it } from 'vitest'
import { beyond, ME, MIXED, newest, planOf } from './query-plans.fixture.ts'

describe('a query on durable calls', () => {
  it.each([
    ['ofRun', 'sqlite_autoindex_steps_1 (run_key=?)'],
    ['part', 'sqlite_autoindex_steps_1 (run_key=? AND seq>?)'],
    ['bySeq', 'sqlite_autoindex_steps_1 (run_key=? AND seq=?)'],
    ['due', 'steps_due (due_at<?)'],
    ['nextDue', 'steps_due (due_at>?)'],
    ['forEvent', 'steps_by_event (event_name=? AND started_at>?)'],
    ['forEventInRun', 'steps_by_run_and_event (run_key=? AND event_name=? AND started_at>?)'],
    ['forChild', 'steps_by_child (child_run_id=?)'],
  ] as const)('named %s uses the order of index %s', (name, index) => {
    const plan = planOf(STEP_QUERIES[name])

    expect(plan).toContain(`INDEX ${index}`)
    expect(plan).not.toMatch(/TEMP B-TREE|SCAN/)
  })

  it.each([newest, beyond])('lists completed calls in the order of an index for page %o', (page) => {
    const plan = planOf(completedQuery(page))

    expect(plan).toMatch(/steps USING INDEX sqlite_autoindex_steps_1 \(run_key=\?/)
    expect(plan).not.toMatch(/TEMP B-TREE|SCAN/)
  })

  it('finds the last end order of a run without scanning its calls', () => {
    expect(planOf(LAST_ORDER)).toMatch(/^SEARCH steps USING COVERING INDEX steps_settled \(run_key=\? AND order>\?\);/)
  })
})

describe('the list of approvals', () => {
  const lists: readonly (readonly [index: string, ApprovalFilter, Visibility])[] = [
    ['approvals_by_creation', {}, EVERY_ROW],
    ['approvals_by_creation', {}, MIXED],
    ['approvals_by_creation', { status: 'approved' }, EVERY_ROW],
    ['approvals_by_owner', {}, ME],
    ['approvals_by_owner', { status: 'denied' }, ME],
    ['approvals_by_run', { runId: 'run' }, EVERY_ROW],
    ['approvals_by_run', { runId: 'run', status: 'pending' }, ME],
    ['approvals_by_run', { runId: 'run', status: 'pending' }, MIXED],
    ['approvals_pending', { status: 'pending' }, EVERY_ROW],
    ['approvals_pending', { status: 'pending' }, MIXED],
    ['approvals_pending', { status: 'pending' }, { agentIds: ['echo'] }],
    ['approvals_pending_by_owner', { status: 'pending' }, ME],
  ]

  it.each(lists)('uses the order of index %s for filter %o and visibility %o', (index, filter, visibility) => {
    for (const page of [newest, beyond]) {
      const plan = planOf(approvalListQuery({ filter, page, visibility }))

      expect(plan).toMatch(new RegExp(`USING INDEX ${index}\\b`))
      expect(plan).not.toMatch(/TEMP B-TREE|MULTI-INDEX/)
    }
  })

  it('looks up approvals by id when the visibility lists approval ids', () => {
    const plan = planOf(approvalListQuery({ filter: {}, page: newest, visibility: { ids: ['a', 'b'] } }))

    expect(plan).toContain('sqlite_autoindex_approvals_1 (id=?)')
  })
})

describe('a query on expiring approvals', () => {
  it('uses the order of the expiry index, which covers pending approvals only', () => {
    for (const query of [APPROVALS_DUE, NEXT_APPROVAL_DUE]) {
      const plan = planOf(query)

      expect(plan).toMatch(/INDEX approvals_due\b/)
      expect(plan).not.toContain('TEMP B-TREE')
    }
  })

  it('uses the order of the reminder index for the approvals to remind of', () => {
    for (const query of [APPROVALS_TO_REMIND, NEXT_REMINDER]) {
      const plan = planOf(query)

      expect(plan).toMatch(/INDEX approvals_to_remind\b/)
      expect(plan).not.toContain('TEMP B-TREE')
    }
  })
})

describe('the deletion of a thread', () => {
  it('finds the runs of the thread and all rows that refer to those runs without a scan', () => {
    expect(planOf(THREAD_RUNS)).toContain('runs_by_thread (thread_id=?)')
    expect(planOf(ACTIVE_RUN_OF_THREAD)).toContain('runs_active_thread (thread_id=? AND target_id=?)')
    for (const query of [APPROVALS_OF_RUN, ...RUN_DELETIONS]) {
      const plan = planOf(query)

      expect(plan).toContain('SEARCH')
      expect(plan).not.toContain('SCAN')
    }
  })
})

describe('the deletion of a session', () => {
  it('finds all rows that refer to the session or to its runs without a scan', () => {
    expect(planOf(SESSION_QUERIES.active)).toContain('runs_busy_by_session (session_id=?)')
    expect(planOf(REDACT_ANSWERS)).toContain('idempotency_by_content (content_of=?)')
    for (const query of [...SESSION_DELETIONS, ...Object.values(SESSION_QUERIES)]) {
      const plan = planOf(query)

      expect(plan).toContain('SEARCH')
      expect(plan).not.toContain('SCAN')
    }
  })
})

describe('the search for idle sessions', () => {
  it('finds the message of a run from the newest message of its session on', () => {
    const plan = planOf(QUESTION_OF_RUN)

    expect(plan).toMatch(/SEARCH messages USING INDEX sqlite_autoindex_messages_1 \(session_key=\?\)/)
    expect(plan).not.toContain('TEMP B-TREE')
  })

  it('uses the order of the activity index and checks active runs only', () => {
    const plan = planOf(SESSIONS_IDLE_SINCE)

    expect(plan).toContain('sessions_by_activity')
    expect(plan).toContain('runs_busy_by_session (session_id=?)')
    expect(plan).not.toMatch(/SCAN|TEMP B-TREE/)
  })
})

describe('the lookup of idempotency keys without a response', () => {
  it('uses the index of executing requests to find requests that a crash interrupted', () => {
    expect(planOf(interruptRecords)).toContain('idempotency_executing')
  })

  it('uses indexes to find hashed keys of an earlier release', () => {
    const [, ofNoRun, ofRuns] = LEGACY_IDS.map(planOf)
    expect(ofNoRun).toContain('idempotency_executing')
    expect(ofRuns).toMatch(/runs_active.*idempotency_by_content \(content_of=\?\)/)
  })
})

describe('the lookup of the runs of idempotency keys', () => {
  it('searches the index of ids', () => {
    expect(planOf(RUN_IDS)).toMatch(/SEARCH idempotency USING INDEX sqlite_autoindex_idempotency_1 \(id=\?\)/)
  })
})

describe('the completion of an idempotency key', () => {
  it('finds the key of a run by content or among executing requests', () => {
    const plan = planOf(completeRecord)

    expect(plan).toContain('idempotency_by_content (content_of=?)')
    expect(plan).toContain('idempotency_executing (run_id=?)')
  })
})

describe('a query on slots', () => {
  it.each([
    ['lists taken slots in the order of the primary key', TAKEN_SLOTS, 'PRIMARY KEY ((lane,slot)>(?,?))'],
    ['finds a slot by the primary key', SELECT_SLOT, 'PRIMARY KEY (lane=? AND slot=?)'],
    ['finds the slots of a run in an index of held slots', FREE_HELD_SLOTS, 'INDEX lanes_held (run_id=?)'],
    ['finds free slots in the order of an index', PRUNE_SLOTS, 'INDEX lanes_free (free_at<?)'],
  ] as const)('%s', (_, query, expected) => {
    const plan = planOf(query as Query<never, unknown>)

    expect(plan).toContain(expected)
    expect(plan).not.toMatch(/SCAN lanes|TEMP B-TREE/)
  })
})

describe('the list of sessions', () => {
  it.each([
    ['sessions_by_creation', {}, EVERY_ROW],
    ['sessions_by_creation', {}, MIXED],
    ['sessions_by_owner', {}, ME],
    ['sessions_by_agent', {}, { agentIds: ['echo'] }],
    ['sessions_by_user', { userId: 'ada' }, EVERY_ROW],
    ['sessions_by_user', { userId: 'ada', agentId: 'echo' }, ME],
    ['sessions_by_agent', { agentId: 'echo' }, MIXED],
  ] as const)('uses the order of index %s for filter %o and visibility %o', (index, filter, visibility) => {
    for (const page of [newest, beyond]) {
      const plan = planOf(sessionListQuery({ filter, page, visibility }))

      expect(plan).toContain(`USING INDEX ${index}`)
      expect(plan).not.toMatch(/TEMP B-TREE|MULTI-INDEX/)
    }
  })

  it.each([
    ['field0', { metadata: { ticket: '17' } }, EVERY_ROW],
    ['field0', { metadata: { ticket: '17' }, userId: 'ada' }, ME],
    ['field1', { metadata: { tier: 'gold', ticket: '17' }, agentId: 'echo' }, MIXED],
  ] as const)(
    'walks the index of session fields by path %s for filter %o and visibility %o',
    (path, filter, visibility) => {
      for (const page of [newest, beyond]) {
        const plan = planOf(sessionListQuery({ filter, page, visibility }, path))

        expect(plan).toMatch(/SEARCH session_fields USING PRIMARY KEY \(field=\? AND value=\?/)
        expect(plan).toContain('SEARCH sessions USING INTEGER PRIMARY KEY')
        // Sessions that were created in the same millisecond are sorted by id.
        expect(plan.replaceAll('TEMP B-TREE FOR LAST TERM', '')).not.toMatch(/TEMP B-TREE|MULTI-INDEX/)
      }
    },
  )

  it('counts the rows of each path in an index, without reading a session', () => {
    const filter = { metadata: { ticket: '17' }, userId: 'ada', agentId: 'echo' }
    const plan = planOf(sessionCounts({ filter, visibility: ME }))

    const reads = plan.split('; ').filter((step) => /sessions|session_fields/.test(step))
    expect(reads).toHaveLength(4)
    for (const read of reads) expect(read).toMatch(/COVERING INDEX|session_fields USING PRIMARY KEY/)
  })
})

describe('the event log', () => {
  it.each(['run', 'session', 'topic'] as const)('seeks directly to a position in the stream of a %s', (carrier) => {
    expect(planOf(READ_AFTER[carrier])).toMatch(new RegExp(`events_by_${carrier} \\(\\w+=\\? AND rowid>\\?\\)`))
    expect(planOf(COUNT[carrier])).toContain(`events_by_${carrier}`)
    expect(planOf(READ_BEFORE[carrier])).toMatch(new RegExp(`events_by_${carrier} \\(\\w+=\\? AND rowid<\\?\\)`))
  })
})

describe('a query on tokens', () => {
  it.each([
    ['reads several tokens by id', SELECT_MANY, /tokens USING INDEX sqlite_autoindex_tokens_1 \(id=\?\)/],
    [
      'walks a token family by parent and successor',
      REVOKE_FAMILY,
      /child USING (?:COVERING )?INDEX tokens_by_parent \(parent_id=\?\).*old USING (?:COVERING )?INDEX tokens_by_successor/,
    ],
    [
      'walks a chain of rotations by successor',
      SELECT_ROOT,
      /old USING (?:COVERING )?INDEX tokens_by_successor \(replaced_by=\?\)/,
    ],
    [
      'walks the descendants of a token by parent',
      LIMIT_DESCENDANTS,
      /tokens USING (?:COVERING )?INDEX tokens_by_parent \(parent_id=\?\)/,
    ],
    [
      'finds the tokens of a subject by subject and time',
      REVOKE_TOKENS_OF_SUBJECT,
      /tokens USING (?:COVERING )?INDEX tokens_by_subject \(subject=\? AND created_at<\?\)/,
    ],
    ['finds the children of a token by parent', ADOPT_CHILDREN, /tokens USING INDEX tokens_by_parent \(parent_id=\?\)/],
  ] as const)('%s', (_, query, expected) => {
    const plan = planOf(query as Query<never, unknown>)

    expect(plan).toMatch(expected)
    expect(plan).not.toContain('SCAN tokens')
  })
})

it.each([
  ['active', 'SEARCH runs USING INDEX runs_at_work_by_owner (owner=?)'],
  ['today', 'SEARCH runs USING INDEX runs_by_owner (owner=? AND created_at>?)'],
  ['deleted', 'SEARCH deleted_usage USING PRIMARY KEY (subject=? AND day>?)'],
  ['prune', 'SEARCH deleted_usage USING COVERING INDEX deleted_usage_by_day (day<?)'],
  ['keep', 'SEARCH runs USING INTEGER PRIMARY KEY (rowid=?)'],
] as const)('counts the usage of a subject by an index: %s', (name, expected) => {
  const plan = planOf(USAGE_QUERIES[name] as Query<never, unknown>)

  expect(plan).toContain(expected)
  expect(plan).not.toMatch(/SCAN (?:runs|deleted_usage)/)
})

it('reads the revocations of subjects by subject', () => {
  const plan = planOf(SELECT_REVOCATIONS)

  expect(plan).toMatch(
    /subject_revocations USING (?:INDEX sqlite_autoindex_subject_revocations_1|PRIMARY KEY) \(subject=\?\)/,
  )
  expect(plan).not.toContain('SCAN subject_revocations')
})

describe('a query on triggers or fires', () => {
  it.each([
    ['triggers_due', TRIGGER_QUERIES.due],
    ['triggers_due', TRIGGER_QUERIES.nextDue],
    ['triggers_by_event', TRIGGER_QUERIES.ofEvent],
    ['runs_active', TRIGGER_QUERIES.busy],
    ['runs_asked_for', TRIGGER_QUERIES.lastEnd],
    ['runs_busy_by_session', TRIGGER_QUERIES.busySession],
    ['runs_by_session', TRIGGER_QUERIES.lastEndOfSession],
    ['trigger_fires_pending', FIRST_PENDING],
    ['trigger_fires_pending', PENDING_FIRES],
    ['trigger_fires_over', PRUNE_FIRES],
    ['trigger_fires_by_trigger', fireListQuery({ filter: { triggerId: 'x' }, page: newest })],
    ['trigger_fires_by_trigger', fireListQuery({ filter: { triggerId: 'x' }, page: beyond })],
    ['trigger_fires_started', fireListQuery({ filter: { triggerId: 'x', status: 'started' }, page: newest })],
  ] as readonly (readonly [string, Query<never, unknown>])[])('uses index %s', (index, query) => {
    expect(planOf(query)).toContain(index)
  })
})
