import { EVERY_ROW } from '@perdure/ports'
import type { Query } from '@perdure/storage'
import {
  ACTIVE_RUN_OF_THREAD,
  ADOPT_CHILDREN,
  APPROVALS_DUE,
  APPROVALS_OF_RUN,
  APPROVALS_TO_REMIND,
  approvalListQuery,
  COUNT,
  COUNT_DELIVERIES,
  chatListQuery,
  completedQuery,
  completeRecord,
  DUE_JOBS,
  DUE_RETRIES,
  deadLettersQuery,
  deliveryListQuery,
  FILE_DELETIONS,
  FILE_QUERIES,
  FIRST_PENDING,
  FREE_HELD_SLOTS,
  factListQuery,
  factVectorQuery,
  fileListQuery,
  findChatQuery,
  fireListQuery,
  IDLE_SESSIONS,
  LAST_ORDER,
  LIMIT_DESCENDANTS,
  listQuery,
  memoryListQuery,
  NEEDING_FOLLOW_UP,
  NEXT_APPROVAL_DUE,
  NEXT_DEADLINE,
  NEXT_JOB,
  NEXT_REMINDER,
  NEXT_START,
  OPEN_CONFLICTS_OF_FACTS,
  PAST_DEADLINE,
  PENDING_FIRES,
  PRUNE_DELIVERIES,
  PRUNE_FILES,
  PRUNE_FIRES,
  PRUNE_RECORDS,
  PRUNE_SLOTS,
  READ_AFTER,
  READ_BEFORE,
  REDACT_ANSWERS,
  RELEASE_DELIVERIES,
  REMOVE_FOLLOW_UP,
  REVOKE_FAMILY,
  REVOKE_TOKENS_OF_SUBJECT,
  RUN_DELETIONS,
  RUN_IDS,
  RUN_OWNERS,
  repeatedQuery,
  runCounts,
  SCAN,
  SELECT_HEAD,
  SELECT_KEPT,
  SELECT_MANY,
  SELECT_REVOCATIONS,
  SELECT_ROOT,
  SELECT_SLOT,
  SESSION_DELETIONS,
  SESSION_QUERIES,
  SESSIONS_IDLE_SINCE,
  STARTING,
  STEP_QUERIES,
  sessionListQuery,
  TAKEN_SLOTS,
  THREAD_RUNS,
  TRIGGER_QUERIES,
  UNATTEMPTED_DELIVERIES,
  UPKEEP,
  USAGE_QUERIES,
} from '@perdure/storage/queries'
import { expect, it } from 'vitest'
import { needsTool } from '../../../../tooling/needed-tool.ts'
import { FACT_TEXTS, factSearchQuery } from './facts.ts'
import { beyond, createPlans, ME, MIXED, newest } from './query-plans.fixture.ts'

/** Lists: the planner walks the index in the order of the list, or sorts the few rows that it finds there. */
const LISTS: readonly (readonly [index: string, query: Query<never, unknown>])[] = [
  ...[newest, beyond].flatMap((page) => [
    ['runs_by_creation', listQuery({ filter: {}, page, visibility: EVERY_ROW })] as const,
    ['runs_by_creation', listQuery({ filter: {}, page, visibility: MIXED })] as const,
    ['runs_by_owner', listQuery({ filter: {}, page, visibility: ME })] as const,
    ['runs_by_owner', listQuery({ filter: { owner: 'o' }, page, visibility: EVERY_ROW })] as const,
    ['runs_by_target', listQuery({ filter: { targetId: 't', kind: 'agent' }, page, visibility: ME })] as const,
    ['runs_by_session', listQuery({ filter: { sessionId: 's' }, page, visibility: ME })] as const,
    [
      'runs_roots_by_session',
      listQuery({ filter: { isRoot: true, sessionId: 's', targetId: 't', kind: 'agent' }, page, visibility: ME }),
    ] as const,
    [
      'runs_turns_by_session',
      listQuery({ filter: { isTurn: true, sessionId: 's', targetId: 't', kind: 'agent' }, page, visibility: ME }),
    ] as const,
    ['runs_by_thread', listQuery({ filter: { threadId: 't', targetId: 'n' }, page, visibility: ME })] as const,
    ['runs_by_parent', listQuery({ filter: { parentRunId: 'r' }, page, visibility: ME })] as const,
    ['runs_active', listQuery({ filter: { statuses: ['queued'] }, page, visibility: EVERY_ROW })] as const,
    ['runs_unsuccessful', listQuery({ filter: { statuses: ['failed'] }, page, visibility: EVERY_ROW })] as const,
    ['runs_parked', listQuery({ filter: { isParked: true }, page, visibility: EVERY_ROW })] as const,
    ['approvals_by_creation', approvalListQuery({ filter: {}, page, visibility: EVERY_ROW })] as const,
    ['approvals_by_owner', approvalListQuery({ filter: {}, page, visibility: ME })] as const,
    ['approvals_by_run', approvalListQuery({ filter: { runId: 'r' }, page, visibility: ME })] as const,
    ['approvals_pending', approvalListQuery({ filter: { status: 'pending' }, page, visibility: EVERY_ROW })] as const,
    ['approvals_pending_by_owner', approvalListQuery({ filter: { status: 'pending' }, page, visibility: ME })] as const,
    ['sessions_by_creation', sessionListQuery({ filter: {}, page, visibility: EVERY_ROW })] as const,
    ['sessions_by_owner', sessionListQuery({ filter: {}, page, visibility: ME })] as const,
    ['sessions_by_user', sessionListQuery({ filter: { userId: 'u' }, page, visibility: EVERY_ROW })] as const,
    ['sessions_by_agent', sessionListQuery({ filter: { agentId: 'a' }, page, visibility: ME })] as const,
    ['steps_pkey', completedQuery(page)] as const,
    ['trigger_fires_by_trigger', fireListQuery({ filter: { triggerId: 't' }, page })] as const,
    ['trigger_fires_started', fireListQuery({ filter: { triggerId: 't', status: 'started' }, page })] as const,
    ['blocks_by_owner', memoryListQuery('blocks', { page, visibility: ME })] as const,
    ['blocks_by_namespace', memoryListQuery('blocks', { namespace: 'n', page, visibility: ME })] as const,
    ['memory_conflicts_by_creation', memoryListQuery('memory_conflicts', { page, visibility: EVERY_ROW })] as const,
    ['facts_by_owner', factListQuery({ filter: { now: 0 as never, visibility: ME }, page })] as const,
    [
      'facts_by_namespace',
      factListQuery({ filter: { namespace: 'n', now: 0 as never, visibility: ME }, page }),
    ] as const,
    ['jobs_dead', deadLettersQuery(page)] as const,
    ['webhook_deliveries_by_webhook', deliveryListQuery({ filter: { webhookId: 'w' }, page })] as const,
    ['webhook_deliveries_dead', deliveryListQuery({ filter: { webhookId: 'w', status: 'dead' }, page })] as const,
    ['webhook_deliveries_pending', deliveryListQuery({ filter: { webhookId: 'w', status: 'pending' }, page })] as const,
    ['chats_by_agent', chatListQuery({ page, visibility: EVERY_ROW })] as const,
    ['chats_by_owner', chatListQuery({ page, visibility: ME })] as const,
    ['runs_busy_by_session', chatListQuery({ page, visibility: ME })] as const,
    ['files_by_creation', fileListQuery({ filter: {}, page, visibility: EVERY_ROW })] as const,
    ['files_by_owner', fileListQuery({ filter: {}, page, visibility: ME })] as const,
    ['file_holders_by_session', fileListQuery({ filter: { sessionId: 's' }, page, visibility: ME })] as const,
  ]),
  ['chats_pkey', findChatQuery(ME)],
  ['approvals_due', APPROVALS_DUE],
  ['approvals_due', NEXT_APPROVAL_DUE],
  ['approvals_to_remind', APPROVALS_TO_REMIND],
  ['approvals_to_remind', NEXT_REMINDER],
  ['changed_sessions_by_change', IDLE_SESSIONS],
  ['events_by_run', READ_AFTER.run],
  ['events_by_session', READ_AFTER.session],
  ['events_by_topic', READ_AFTER.topic],
  ['events_by_run', READ_BEFORE.run],
  ['events_pkey', SELECT_HEAD],
  ['events_pkey', SCAN],
  ['facts_by_expiry', UPKEEP.expired],
  ['facts_by_weight', UPKEEP.weighed],
  ['facts_owner_weight', UPKEEP.weighedOfOwner],
  ['facts_unembedded', UPKEEP.unembedded],
  ['jobs_due', DUE_JOBS],
  ['jobs_due', NEXT_JOB],
  ['lanes_pkey', TAKEN_SLOTS],
  ['runs_by_deadline', PAST_DEADLINE],
  ['runs_by_deadline', NEXT_DEADLINE],
  ['runs_by_start', STARTING],
  ['runs_by_start', NEXT_START],
  ['sessions_by_activity', SESSIONS_IDLE_SINCE],
  ['steps_pkey', STEP_QUERIES.ofRun],
  ['steps_due', STEP_QUERIES.due],
  ['steps_due', STEP_QUERIES.nextDue],
  ['steps_by_event', STEP_QUERIES.forEvent],
  ['steps_by_run_and_event', STEP_QUERIES.forEventInRun],
  ['steps_settled', LAST_ORDER],
  ['triggers_due', TRIGGER_QUERIES.due],
  ['triggers_by_event', TRIGGER_QUERIES.ofEvent],
  ['runs_asked_for', TRIGGER_QUERIES.lastEnd],
  ['webhook_deliveries_unattempted', UNATTEMPTED_DELIVERIES],
  ['webhook_deliveries_due', DUE_RETRIES],
]

/** Lookups: the index finds the rows; their order does not matter. */
const LOOKUPS: readonly (readonly [index: string, query: Query<never, unknown>])[] = [
  ['run_fields_pkey', listQuery({ filter: { userId: 'u' }, page: newest, visibility: EVERY_ROW })],
  [
    'session_fields_pkey',
    sessionListQuery({ filter: { metadata: { tier: 'x' } }, page: newest, visibility: EVERY_ROW }),
  ],
  ['runs_by_owner', runCounts({ filter: { owner: 'o', targetId: 't' }, visibility: ME })],
  ['runs_by_owner', RUN_OWNERS],
  ['runs_active_thread', ACTIVE_RUN_OF_THREAD],
  ['run_follow_ups_pkey', NEEDING_FOLLOW_UP],
  ['run_follow_ups_pkey', REMOVE_FOLLOW_UP],
  ['runs_by_thread', THREAD_RUNS],
  ['approvals_by_run', APPROVALS_OF_RUN],
  ['events_by_run', COUNT.run],
  ['facts_by_word', factSearchQuery({ now: 0 as never, visibility: EVERY_ROW })],
  ['facts_key_key', FACT_TEXTS],
  ['facts_by_owner', factVectorQuery({ owner: 'o', now: 0 as never, visibility: EVERY_ROW })],
  ['facts_by_fingerprint', repeatedQuery({ owner: 'o' })],
  ['trigger_fires_pending', FIRST_PENDING],
  ['trigger_fires_pending', PENDING_FIRES],
  ['trigger_fires_over', PRUNE_FIRES],
  ['idempotency_pkey', RUN_IDS],
  ['idempotency_by_content', completeRecord],
  ['idempotency_executing', completeRecord],
  ['idempotency_answered', PRUNE_RECORDS],
  ['idempotency_by_content', REDACT_ANSWERS],
  ['lanes_held', FREE_HELD_SLOTS],
  ['lanes_free', PRUNE_SLOTS],
  ['lanes_pkey', SELECT_SLOT],
  ['memory_conflicts_open_fact', OPEN_CONFLICTS_OF_FACTS],
  ['memory_conflicts_open_other', OPEN_CONFLICTS_OF_FACTS],
  ['runs_busy_by_session', SESSION_QUERIES.active],
  ['events_by_session', SESSION_QUERIES.lastEvent],
  ['steps_by_child', STEP_QUERIES.forChild],
  ['tokens_pkey', SELECT_MANY],
  ['tokens_by_successor', SELECT_ROOT],
  ['tokens_by_parent', REVOKE_FAMILY],
  ['tokens_by_successor', REVOKE_FAMILY],
  ['tokens_by_parent', ADOPT_CHILDREN],
  ['tokens_by_subject', REVOKE_TOKENS_OF_SUBJECT],
  ['subject_revocations_pkey', SELECT_REVOCATIONS],
  ['runs_at_work_by_owner', USAGE_QUERIES.active],
  ['runs_by_owner', USAGE_QUERIES.today],
  ['deleted_usage_pkey', USAGE_QUERIES.deleted],
  ['deleted_usage_by_day', USAGE_QUERIES.prune],
  ['runs_pkey', USAGE_QUERIES.keep],
  ['tokens_by_parent', LIMIT_DESCENDANTS],
  ['webhook_deliveries_pending', COUNT_DELIVERIES],
  ['webhook_deliveries_dead', COUNT_DELIVERIES],
  ['webhook_deliveries_claimed', RELEASE_DELIVERIES],
  ['webhook_deliveries_over', PRUNE_DELIVERIES],
  ['files_usage', FILE_QUERIES.usage],
  ['files_of_blob', FILE_QUERIES.inUse],
  ['files_unheld', PRUNE_FILES],
  ['file_holders_by_session', FILE_DELETIONS.files],
  ['file_holders_by_session', FILE_DELETIONS.holders],
  ['run_files_pkey', SELECT_KEPT],
  ['run_files_pkey', FILE_DELETIONS.filesOfRun],
  ['run_files_by_file', FILE_DELETIONS.filesOfRun],
  ['run_files_pkey', FILE_DELETIONS.keepers],
  ['run_files_by_file', FILE_QUERIES.holdingRuns],
  ...[...RUN_DELETIONS, ...SESSION_DELETIONS].map((query) => ['', query] as const),
]

needsTool('PostgreSQL').describe('a query plan on a PostgreSQL server', () => {
  const { planOf } = createPlans({ isFilled: true })

  it.each(LISTS)('reads a list by the index %s: %#', async (index, query) => {
    const plan = await planOf(query)

    expect(plan).toContain(index)
    expect(plan).not.toMatch(/Seq Scan on (?!meta)/)
  })

  it.each(LOOKUPS)('finds rows by the index %s: %#', async (index, query) => {
    const plan = await planOf(query)

    expect(plan).toContain(index)
    expect(plan).not.toMatch(/Seq Scan/)
  })
})

/** Without statistics, the planner reads the small index of all open conflicts instead. */
const CONFLICT_INDEX = /^memory_conflicts_open_.*/

needsTool('PostgreSQL').describe('a query plan without statistics', () => {
  const { planOf } = createPlans({ isFilled: false })

  it.each([...LISTS, ...LOOKUPS])('uses the index %s: %#', async (index, query) => {
    const plan = await planOf(query)

    expect(plan).toContain(index.replace(CONFLICT_INDEX, 'memory_conflicts_open'))
    expect(plan).not.toMatch(/Seq Scan on (?!meta)/)
  })
})
