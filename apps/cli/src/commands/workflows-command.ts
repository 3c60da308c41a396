import type { Call } from '../call.ts'
import { cliError } from '../cli-error.ts'
import { parseDuration } from '../flag-time.ts'
import { pairsText } from '../output/columns.ts'
import { statusColour } from '../output/paint.ts'
import { readInput } from './read-input.ts'
import { finishWithStatus, showOutcome } from './run-result.ts'
import { type StartFlags, startMembers } from './start-members.ts'
import { waitForOutcome } from './wait-for-outcome.ts'
import { waitText } from './wait-text.ts'

export interface ThreadFlags {
  readonly workflow: string
  readonly thread: string
}

export interface WorkflowsRunFlags extends StartFlags {
  readonly workflow: string
  readonly input?: string
  readonly thread?: string
  readonly wait?: string
  readonly idempotencyKey?: string
}

export async function workflowsRunCommand(call: Call, flags: WorkflowsRunFlags): Promise<void> {
  const { workflow, thread, wait, idempotencyKey } = flags
  const start = startMembers(flags)
  const input = await readInput(call.terminal, 'input', flags.input)
  const body = {
    ...(input === undefined ? {} : { input }),
    ...(thread === undefined ? {} : { threadId: thread }),
    ...start,
  }
  const waitMs = wait === undefined ? undefined : parseDuration('wait', wait)
  const started = await call.client().workflows.execute(workflow, body, { idempotencyKey, prefer: 'respond-async' })
  const outcome = waitMs === undefined ? started : await waitForOutcome(call, started.runId, waitMs)
  showOutcome(call, outcome)
  if (!call.out.isJson)
    call.out.note(`  thread ${outcome.threadId}: perdure workflows show ${workflow} ${outcome.threadId}`)
  if (waitMs !== undefined) finishWithStatus(call, outcome)
}

export async function workflowsShowCommand(call: Call, { workflow, thread }: ThreadFlags): Promise<void> {
  const state = await call.client().workflows.state(workflow, { threadId: thread })
  const { steps, waitingFor, ...facts } = state
  call.out.document(state, (paint) => {
    const waits = waitingFor.map(
      (wait) => `  ${waitText(wait)}${wait.dueAt === undefined ? '' : ` until ${wait.dueAt}`}\n`,
    )
    const lines = steps.map(
      ({ seq, name, kind, status }) =>
        `  ${String(seq).padStart(3)}  ${paint(statusColour(status) ?? 'cyan', status.padEnd(9))}  ${kind.padEnd(8)}  ${name}\n`,
    )
    const waiting = waits.length === 0 ? '' : `waiting for\n${waits.join('')}`
    return `${pairsText(Object.entries(facts), paint)}${waiting}${lines.length === 0 ? '' : `steps\n${lines.join('')}`}`
  })
}

export async function workflowsResumeCommand(
  call: Call,
  { workflow, thread, name, payload }: ThreadFlags & { name?: string; payload?: string },
): Promise<void> {
  const read = await readInput(call.terminal, 'payload', payload)
  const outcome = await call.client().workflows.resume(workflow, {
    threadId: thread,
    ...(name === undefined ? {} : { name }),
    ...(read === undefined ? {} : { payload: read }),
  })
  showOutcome(call, outcome)
}

/** The server currently answers 501, which the client throws as an error. Any other answer is printed. */
export async function workflowsForkCommand(
  call: Call,
  { workflow, thread, checkpoint }: ThreadFlags & { checkpoint?: string },
): Promise<void> {
  const body = { threadId: thread, ...(checkpoint === undefined ? {} : { checkpointId: checkpoint }) }
  const answer: unknown = await call.client().workflows.fork(workflow, body)
  if (answer === undefined) {
    throw cliError('invalid-answer', {
      message: 'the server returned no result for the fork',
      hint: 'update @perdure/cli',
      exit: 'failed',
    })
  }
  call.out.document(answer, () => `${JSON.stringify(answer)}\n`)
}
