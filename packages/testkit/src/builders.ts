import {
  type ApprovalRecord,
  type EmissionPart,
  type EpochMs,
  type FireRecord,
  type IdempotencyRecord,
  type McpServerRecord,
  type NewEvent,
  type NewMessage,
  NO_USAGE,
  type RunRecord,
  type SessionRecord,
  type StepRecord,
  type TokenRecord,
  type TriggerMembers,
  type TriggerRecord,
  type TriggerRule,
  toJsonText,
} from '@perdure/ports'

/** Creation time of everything that the builders create: 2025-01-01T00:00:00.000Z. */
export const BUILT_AT = Date.UTC(2025, 0, 1) as EpochMs

/** A queued run of the agent `echo`; only its required fields are set. */
export const aRun = (over: Partial<RunRecord> = {}): RunRecord => ({
  id: 'run_00000000000000000000000001',
  kind: 'agent',
  targetId: 'echo',
  owner: 'alice',
  status: 'queued',
  input: toJsonText({ text: 'hello' }),
  usage: NO_USAGE,
  attempt: 1,
  execution: 0,
  depth: 0,
  metadata: {},
  createdAt: BUILT_AT,
  ...over,
})

/** The first call of the run from `aRun()`, executing; only its required fields are set. */
export const aStep = (over: Partial<StepRecord> = {}): StepRecord => ({
  runId: 'run_00000000000000000000000001',
  seq: 1,
  kind: 'step',
  name: 'fetch',
  status: 'started',
  attempt: 1,
  startedAt: BUILT_AT,
  ...over,
})

/** A pending approval requested by the run from `aRun()`; only its required fields are set. */
export const anApproval = (over: Partial<ApprovalRecord> = {}): ApprovalRecord => ({
  id: 'apr_00000000000000000000000001',
  runId: 'run_00000000000000000000000001',
  kind: 'agent',
  targetId: 'echo',
  owner: 'alice',
  name: 'publish',
  status: 'pending',
  createdAt: BUILT_AT,
  ...over,
})

/** A session of `alice`; only its required fields are set. */
export const aSession = (over: Partial<SessionRecord> = {}): SessionRecord => ({
  id: 'ses_00000000000000000000000001',
  owner: 'alice',
  metadata: {},
  createdAt: BUILT_AT,
  updatedAt: BUILT_AT,
  ...over,
})

/** A token of `alice` that never expires; its digest is derived from its id. */
export const aToken = (over: Partial<TokenRecord> = {}): TokenRecord => ({
  id: 'tok_00000000000000000000000001',
  digest: `digest of ${over.id ?? 'tok_00000000000000000000000001'}`,
  name: 'test token',
  subject: 'alice',
  env: 'test',
  scopes: ['agents:read', 'agents:invoke'],
  createdAt: BUILT_AT,
  createdBy: 'alice',
  last4: 'x7Qf',
  ...over,
})

/** An event without a stream; give it a run, session or topic to put it on one. */
export const anEvent = (over: Partial<NewEvent> = {}): NewEvent => ({
  type: 'text.delta',
  payload: toJsonText({ delta: 'hel' }),
  at: BUILT_AT,
  ...over,
})

/** A user message in the session from `aSession()`. */
export const aMessage = (over: Partial<NewMessage> = {}): NewMessage => ({
  id: 'msg_00000000000000000000000001',
  sessionId: 'ses_00000000000000000000000001',
  role: 'user',
  content: toJsonText('hello'),
  createdAt: BUILT_AT,
  ...over,
})

/** A request that is still executing and expires a day later. */
export const anIdempotencyRecord = (over: Partial<IdempotencyRecord> = {}): IdempotencyRecord => ({
  id: 'a'.repeat(64),
  fingerprint: 'f'.repeat(64),
  createdAt: BUILT_AT,
  expiresAt: (BUILT_AT + 86_400_000) as EpochMs,
  ...over,
})

/** An MCP server added over REST; only its required fields are set. */
export const anMcpServer = (over: Partial<McpServerRecord> = {}): McpServerRecord => ({
  id: 'files',
  url: 'https://mcp.example/mcp',
  createdAt: BUILT_AT,
  createdBy: 'alice',
  ...over,
})

/** An emission part with waiting calls of `run-a` and `run-b`. */
export const anEmissionPart = (over: Partial<EmissionPart> = {}): EmissionPart => ({
  id: 'emi-1',
  eventName: 'invoice.paid',
  payload: toJsonText({ text: 'Grüße, 世界 🚢', nested: [null, 0.5] }),
  waits: [
    { runId: 'run-a', seq: 3 },
    { runId: 'run-b', seq: 1 },
  ],
  createdAt: BUILT_AT,
  ...over,
})

/** The members that differ; a trigger of another kind than `event` needs its whole rule. */
export type TriggerOver = Partial<TriggerMembers> &
  (
    | Exclude<TriggerRule, { readonly kind: 'event' }>
    | { readonly kind: 'event'; readonly event?: string }
    | { readonly kind?: undefined; readonly event?: string }
  )

/** An enabled trigger that starts the agent `echo` on an event; only its required fields are set. */
export function aTrigger(over: TriggerOver = {}): TriggerRecord {
  if (over.kind === undefined || over.kind === 'event')
    return { ...TRIGGER, ...over, kind: 'event', event: over.event ?? 'night.began' }
  return { ...TRIGGER, ...over }
}

const TRIGGER: TriggerMembers = {
  id: 'nightly',
  target: { kind: 'agent', id: 'echo' },
  owner: 'alice',
  enabled: true,
  catchUp: 'latest',
  maxCatchUp: 10,
  catchUpWindowMs: 86_400_000,
  overlap: 'skip',
  jitterMs: 0,
  source: 'api',
  anchorAt: BUILT_AT,
  fireCount: 0,
  missed: 0,
  version: 1,
  createdAt: BUILT_AT,
}

/** A pending scheduled fire of the trigger from `aTrigger()`; only its required fields are set. */
export const aFire = (over: Partial<FireRecord> = {}): FireRecord => ({
  id: 'fire_00000000000000000000000001',
  triggerId: 'nightly',
  scheduledAt: BUILT_AT,
  cause: 'schedule',
  status: 'pending',
  createdAt: BUILT_AT,
  ...over,
})
