import { EVERY_ROW, fromJsonText, type RunRecord, type RunStore, toJsonText } from '@perdure/ports'
import { eachItem } from '../collections/each-item.ts'
import type { CallScope } from '../durable/call-scope.ts'
import type { TakenMessage } from '../durable/service-caller.ts'
import { callTransaction } from '../durable/transaction-call.ts'
import { runEvent } from '../runs/run-events.ts'
import { isMessage, isTurn } from '../runs/turn.ts'
import type { RunTargets } from '../targets/run-target.ts'
import { announce, type EndPlan, type EndRunDeps, planEnd } from './end-run.ts'
import type { Runner } from './runner.ts'

export interface TakeMessagesDeps extends EndRunDeps {
  readonly runs: RunStore
  readonly targets: RunTargets
  readonly runner: Pick<Runner, 'abort'>
  readonly maxEventBytes: number
  readonly maxResultBytes: number
}

/** The name of the recorded calls. */
const CALL = 'session.take'

/** How much a run takes at once. A turn has a message of its own besides those that have waited with it. */
const MAX_MESSAGES = { steering: 20, waiting: 19 } as const
const MAX_LENGTH = 256 * 1_024

/**
 * Takes the messages that wait for the session of a run: each of them is a queued run, which ends in the commit that hands its message
 * to the taking run. A message is therefore either taken once, or starts a turn of its own.
 *
 * A call that finds nothing records nothing. A re-execution then finds another call recorded, and takes nothing there either.
 */
export function createTakeMessages(deps: TakeMessagesDeps) {
  return async (scope: CallScope, steeringOnly: boolean): Promise<readonly TakenMessage[]> => {
    const { ledger, run } = scope
    const isNew = !ledger.isReplaying()
    let found = isNew ? await waitingRuns(deps, run, steeringOnly) : undefined
    if (isNew ? found?.length === 0 : !isRecordedNext(scope)) {
      if (!isNew) await ledger.yieldTurn()
      return []
    }

    let ends: readonly EndPlan[] = []
    const taken = await callTransaction(scope, CALL, async () => {
      // The commit requires that the messages still wait with the content that was read, so only a conflict needs another read.
      const waiting = found ?? (await waitingRuns(deps, run, steeringOnly))
      found = undefined
      ends = waiting.map((one) => joinPlan(deps, one, run))
      const at = deps.clock.now()
      const messages = waiting.map(messageOf)
      return {
        writes: ends.flatMap(({ writes }) => writes),
        events: messages.map(({ from, content }) => {
          const payload = toJsonText({ runId: run.id, from, content })
          return runEvent(run, { type: 'run.message', payload, at })
        }),
        value: messages,
      }
    })
    for (const { ended, json } of ends) {
      announce(deps, ended, { hasDependents: false, json })
      deps.runner.abort(ended.id, 'joined')
    }
    return taken
  }
}

const isRecordedNext = ({ ledger }: CallScope): boolean => ledger.isNextRecorded('step', CALL)

/** Returns what an earlier execution has taken at this point. */
export async function takeRecorded(scope: CallScope): Promise<readonly TakenMessage[]> {
  if (isRecordedNext(scope))
    return callTransaction<readonly TakenMessage[]>(scope, CALL, async () => ({ writes: [], value: [] }))
  await scope.ledger.yieldTurn()
  return []
}

const messageOf = ({ id, input, createdAt }: RunRecord): TakenMessage => ({
  from: id,
  content: fromJsonText(input),
  createdAt: new Date(createdAt).toISOString(),
})

const joinPlan = (deps: EndRunDeps, waiting: RunRecord, { id: runId }: RunRecord): EndPlan =>
  planEnd(deps, waiting, {
    ...{ status: 'completed', finishReason: 'joined', execution: 0, withdrawnBy: runId },
    startAt: waiting.startAt ?? null,
    hasDependents: false,
  })

/** The runs whose messages the run takes, in their order: up to the first one that has to be a turn of its own. */
async function waitingRuns(
  deps: TakeMessagesDeps,
  run: RunRecord,
  steeringOnly: boolean,
): Promise<readonly RunRecord[]> {
  const { runs, clock, maxEventBytes, maxResultBytes } = deps
  const limit = steeringOnly ? MAX_MESSAGES.steering : MAX_MESSAGES.waiting
  if (!mayTake(deps, run, steeringOnly)) return []
  const { sessionId, targetId, createdAt: since } = run
  const filter = { kind: 'agent', targetId, sessionId, isTurn: true, statuses: ['queued'], since } as const
  const pages = (cursor: string | undefined) =>
    runs.list(filter, { limit, order: 'asc', cursor, content: [] }, EVERY_ROW)
  const found: RunRecord[] = []
  let room = Math.min(MAX_LENGTH, maxResultBytes / 2)
  for await (const { id, flow } of eachItem(pages)) {
    if (found.length === limit) break
    if (steeringOnly && flow?.onBusy !== 'steer') continue
    const waiting = await runs.find(id, EVERY_ROW)
    if (waiting?.status !== 'queued') continue
    const { length } = waiting.input
    room -= length
    if (room < 0 || 2 * length > maxEventBytes || !isMessageFor(run, waiting, clock.now())) break
    found.push(waiting)
  }
  // Read last: the turn that replaces this one has also withdrawn every message that was found.
  return found.length === 0 || (await isShown(deps, run)) ? found : []
}

/** A turn whose agent works on several messages of a session at once takes nothing. */
function mayTake({ targets }: TakeMessagesDeps, run: RunRecord, steeringOnly: boolean): boolean {
  const target = targets.ofRun(run)
  if (!isTurn(run) || target?.concurrency !== 'session') return false
  return !steeringOnly || target.onBusyChoices.includes('steer')
}

/** Whether no later turn replaces the run. */
async function isShown({ runs }: TakeMessagesDeps, { id }: RunRecord): Promise<boolean> {
  const own = await runs.find(id, EVERY_ROW)
  return own !== undefined && own.withdrawnBy === undefined
}

/** Whether the run only waits for the session, and neither for a time of its own nor to abort the run ahead. */
const isMessageFor = (run: RunRecord, waiting: RunRecord, now: number): boolean =>
  isMessage(waiting) &&
  waiting.owner === run.owner &&
  waiting.userId === run.userId &&
  waiting.version === run.version &&
  waiting.execution === 0 &&
  (waiting.startAt ?? 0) <= now &&
  waiting.flow?.onBusy !== 'interrupt'
