import { isCutOffStep, NonRetryableError, type RunContext, type StepContext } from '@perdure/core'
import type { ModelMessage } from 'ai'
import { createAnswerLog } from '../model/answer-log.ts'
import type { Part } from '../model/model.ts'
import { isObject } from '../sdk.ts'
import type { ToolDeclarations } from '../tools/declaration.ts'
import { showDenial } from '../tools/denied.ts'
import type {
  HarnessCalls,
  HarnessDecision,
  HarnessRegistration,
  HarnessResult,
  HarnessSession,
} from './harness-types.ts'

export interface HarnessTurn<Session extends HarnessSession> {
  readonly ctx: RunContext
  readonly agent: HarnessCalls<Session>
  readonly harnessId: string
  readonly hasOutput: boolean
  readonly declarations: ToolDeclarations
  readonly sessions: Pick<HarnessRegistration<Session>, 'openSession' | 'closeSession'>
  readonly messages: readonly ModelMessage[]
  readonly options?: unknown
}

/** A request for approval that ended a slice of a turn. */
interface Asked {
  readonly approvalId: string
  readonly toolCallId: string | undefined
  readonly toolName: string
  readonly input: unknown
}

interface Slice {
  /** Whether a crash has cut the turn off, and the harness does not know it any more. */
  readonly isLost?: true
  readonly result: unknown
  readonly asked: readonly Asked[]
  readonly isUnfinished: boolean
}

/** Why a slice continues a turn. */
interface Continued {
  readonly decisions: readonly HarnessDecision[]
  /** Whether a crash has cut the turn off, so that only the harness knows how far it came. */
  readonly isCutOff: boolean
}

/**
 * One turn of a harness, as recorded steps: one for each slice between two approvals. A slice that a crash has cut off is
 * never executed again; the harness continues it, or the run fails.
 */
export async function harnessTurn<Session extends HarnessSession>(turn: HarnessTurn<Session>): Promise<unknown> {
  let continued: Continued | undefined
  for (;;) {
    const slice: Slice | 'cut off' = await recordedSlice(turn, continued)
    if (slice === 'cut off') {
      continued = { decisions: continued?.decisions ?? [], isCutOff: true }
      continue
    }
    if (slice.isLost === true) throw new NonRetryableError(INTERRUPTED, { code: 'run-interrupted' })
    if (!slice.isUnfinished) return slice.result
    const decisions: HarnessDecision[] = []
    for (const asked of slice.asked) decisions.push(await decisionOf(turn.ctx, asked))
    if (decisions.length === 0) throw new NonRetryableError(UNFINISHED)
    continued = { decisions, isCutOff: false }
  }
}

const INTERRUPTED = 'the server stopped during the turn, and the harness cannot continue it; send the message again'

const UNFINISHED =
  'the harness stopped in the middle of the turn; remove stopWhen, and give each of its tools an execute function'

async function decisionOf(
  ctx: RunContext,
  { approvalId, toolCallId, toolName, input }: Asked,
): Promise<HarnessDecision> {
  const { approved, reason } = await ctx.approval(toolName, { title: toolName, payload: input })
  // The harness tells its runtime about a denial, but shows no end of the call.
  if (!approved && toolCallId !== undefined) showDenial(ctx, toolCallId, reason)
  return { type: 'tool-approval-response', approvalId, approved, ...(reason === undefined ? {} : { reason }) }
}

async function recordedSlice<Session extends HarnessSession>(
  turn: HarnessTurn<Session>,
  continued: Continued | undefined,
): Promise<Slice | 'cut off'> {
  let isExecuted = false
  try {
    const { harnessId, messages } = turn
    const slice = await turn.ctx.step(
      'harness turn',
      (step) => {
        isExecuted = true
        return performSlice(turn, continued, step)
      },
      { onCrash: 'fail', model: { provider: harnessId, input: messages } },
    )
    return slice as unknown as Slice
  } catch (error) {
    if (isExecuted || !isObject(error) || !isCutOffStep(error)) throw error
    return 'cut off'
  }
}

async function performSlice<Session extends HarnessSession>(
  turn: HarnessTurn<Session>,
  continued: Continued | undefined,
  step: StepContext,
): Promise<Slice> {
  const { ctx, agent, messages, options, sessions } = turn
  const { signal: abortSignal } = step
  const sessionId = ctx.sessionId ?? ctx.runId
  const session = await sessions.openSession({ sessionId, abortSignal })
  const call = { session, abortSignal }
  const resultOf = () =>
    continued === undefined
      ? agent.stream({ ...call, messages, ...(options === undefined ? {} : { options }) })
      : agent.continueStream({ ...call, toolApprovalContinuations: continued.decisions })
  try {
    const isLost = continued?.isCutOff === true && !session.hasUnfinishedTurn()
    const slice = isLost ? LOST : await drained(turn, await resultOf(), { session, step })
    await sessions.closeSession(session, { sessionId })
    return slice
  } catch (error) {
    await sessions.closeSession(session, { sessionId, error })
    throw error
  }
}

const LOST: Slice = { isLost: true, result: null, asked: [], isUnfinished: false }

/** Shows what the harness says while it comes. */
async function drained(
  {
    ctx,
    harnessId,
    hasOutput,
    declarations,
  }: Pick<HarnessTurn<HarnessSession>, 'ctx' | 'harnessId' | 'hasOutput' | 'declarations'>,
  result: HarnessResult,
  { session, step }: { readonly session: HarnessSession; readonly step: StepContext },
): Promise<Slice> {
  const log = createAnswerLog(ctx, {
    ...{ messageId: step.idempotencyKey, form: 'streamed', withoutText: false, declarations },
  })
  const asked: Asked[] = []
  let modelId = harnessId
  for await (const part of result.stream) {
    if (step.signal.aborted) throw step.signal.reason
    step.progress()
    if (part.type === 'tool-approval-request') asked.push(askedIn(part))
    if (part.type === 'finish-step' && isObject(part.response)) modelId = String(part.response.modelId ?? harnessId)
    await log.write(part)
  }
  await log.end({ provider: harnessId, modelId }, step.modelAnswered)
  const isUnfinished = session.hasUnfinishedTurn()
  const done = async () => (hasOutput ? result.output : { text: await result.text })
  return { result: isUnfinished ? null : await done(), asked, isUnfinished }
}

function askedIn({ approvalId, toolCall }: Part): Asked {
  const { toolCallId, toolName, input = null } = isObject(toolCall) ? toolCall : {}
  return {
    ...{ approvalId: String(approvalId), toolName: String(toolName ?? 'tool'), input },
    toolCallId: typeof toolCallId === 'string' ? toolCallId : undefined,
  }
}
