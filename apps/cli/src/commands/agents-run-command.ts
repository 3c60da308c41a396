import { nearest } from '@perdure/protocol'
import type { Call } from '../call.ts'
import { isClientError } from '../client-error.ts'
import { parseDuration } from '../flag-time.ts'
import { cancelOnInterrupt } from './cancel-on-interrupt.ts'
import { missingHint, missingMembers, promptForMissing } from './complete-input.ts'
import { followRun } from './follow-run.ts'
import { readInput } from './read-input.ts'
import { finishWithStatus, showOutcome } from './run-result.ts'
import { type StartFlags, startMembers } from './start-members.ts'
import { waitForOutcome } from './wait-for-outcome.ts'

export interface AgentsRunFlags extends StartFlags {
  readonly agent: string
  readonly input?: string
  readonly stream?: boolean
  readonly session?: string
  readonly runTimeout?: string
  readonly idempotencyKey?: string
  readonly detach?: boolean
}

export async function agentsRunCommand(call: Call, flags: AgentsRunFlags): Promise<void> {
  const { agent, session, runTimeout } = flags
  const start = startMembers(flags)
  const given = await readInput(call.terminal, 'input', flags.input)
  const input = call.terminal.isInteractive
    ? await promptForMissing(call.terminal, await inputSchemaOf(call, agent), given)
    : given
  const body = {
    ...(input === undefined ? {} : { input }),
    ...(session === undefined ? {} : { sessionId: session }),
    ...(runTimeout === undefined ? {} : { timeoutMs: parseDuration('run-timeout', runTimeout) }),
    ...start,
  }
  try {
    await run(call, flags, body)
  } catch (error) {
    if (!isClientError(error)) throw error
    if (error.code === 'agent-not-found') throw await withNearest(call, agent, error)
    throw error.code === 'invalid-input' ? await withMissing(call, { agent, input }, error) : error
  }
}

/** Without the right to read the agent, its schema is unknown. */
const inputSchemaOf = (call: Call, agent: string) =>
  call
    .client()
    .agents.get(agent)
    .then(({ inputSchema = {} }) => inputSchema as Parameters<typeof missingMembers>[0])
    .catch(() => ({}))

/** Names the members that the input lacks. */
async function withMissing(
  call: Call,
  { agent, input }: { readonly agent: string; readonly input: unknown },
  error: Error,
): Promise<Error> {
  const schema = await inputSchemaOf(call, agent)
  const missing = missingMembers(schema, input)
  return missing.length === 0 ? error : Object.assign(error, { hint: missingHint(agent, schema, missing) })
}

/** Suggests a registered agent; without the right to list them, the error is unchanged. */
async function withNearest(call: Call, agent: string, error: Error): Promise<Error> {
  const ids = await call
    .client()
    .agents.list({ limit: 200 })
    .then(({ items }) => items.map(({ id }) => id))
    .catch(() => [])
  const near = nearest(agent, ids)
  return Object.assign(error, near === undefined ? { hint: 'perdure agents list' } : { hint: `Did you mean ${near}?` })
}

type RunBody = Parameters<ReturnType<Call['client']>['agents']['run']>[1]

async function run(call: Call, flags: AgentsRunFlags, body: RunBody): Promise<void> {
  const { agent, idempotencyKey } = flags
  const { agents } = call.client()
  if (flags.detach) {
    showOutcome(call, await agents.run(agent, body, { idempotencyKey, prefer: 'respond-async' }))
    return
  }
  if (flags.stream) {
    const { runId, subject } = await agents.start(agent, body, { idempotencyKey })
    await followRun(call, { runId, subject })
    return
  }
  // Start without waiting, so that Ctrl-C has a run id to cancel.
  const { runId } = await agents.start(agent, body, { idempotencyKey })
  const followed = await cancelOnInterrupt(call, runId, () => waitForOutcome(call, runId))
  if (followed === undefined) return
  showOutcome(call, followed.result)
  if (!followed.isInterrupted) finishWithStatus(call, followed.result)
}
