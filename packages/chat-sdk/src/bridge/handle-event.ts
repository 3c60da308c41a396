import type { RunContext } from '@perdure/core'
import { isTerminal } from '@perdure/protocol'
import type { Chat } from 'chat'
import type { PerdureState } from '../state/perdure-state.ts'
import { createAnswer } from './answer.ts'
import type { Callers } from './callers.ts'
import type { ChatEvent, MessageEvent } from './chat-event.ts'
import { wakeEventOf } from './chat-names.ts'
import { type DecideDeps, decide } from './decide.ts'
import { followTurn, type Look } from './follow-turn.ts'
import { createPosts } from './posts.ts'
import type { RunWatch } from './run-watch.ts'
import { showApprovals } from './show-approvals.ts'
import { type StartedTurn, startTurn } from './start-turn.ts'
import { stopTurns } from './stop-turns.ts'

export interface HandleEventDeps extends DecideDeps {
  readonly chat: Chat
  readonly state: PerdureState
  readonly agentId: string
  readonly callers: () => Promise<Callers>
  readonly runWatch: RunWatch
  readonly updateIntervalMs: number
  readonly now: () => number
  /** The text for a turn that the server refused, or whose run has failed. */
  readonly errorText: (code: string, runId?: string) => string
}

/** Platforms limit the rate of requests, and fail for a while. */
export const RETRIES = { retries: { max: 20, delay: '500ms', maxDelay: '1m' } } as const

const FIRST_WAIT_MS = 1_000
const LONGEST_WAIT_MS = 10 * 60_000

/** Does what a person asked for, as durable calls of the workflow. */
export async function handleEvent(deps: HandleEventDeps, ctx: RunContext, event: ChatEvent): Promise<void> {
  if (event.kind === 'message') return answerMessage(deps, ctx, event)
  if (event.kind === 'stop') {
    await ctx.step('stop', async () => stopTurns(await deps.callers(), event), RETRIES)
    return
  }
  await ctx.step('decide', async () => decide(deps, await deps.callers(), event), RETRIES)
}

async function answerMessage(deps: HandleEventDeps, ctx: RunContext, event: MessageEvent): Promise<void> {
  const { agentId, callers, runWatch } = deps
  const started: StartedTurn = await ctx.step('start', async () => startTurn(await callers(), agentId, event), RETRIES)
  if ('refused' in started) {
    await ctx.step('refused', () => showRefusal(deps, event, started.refused), RETRIES)
    return
  }
  const { runId } = started
  // While the run waits, so does this one: it holds no slot, and the end of that wait, or at the latest a timer, wakes it.
  for (let waitMs = FIRST_WAIT_MS; ; ) {
    const { isOver, lastEventId } = await ctx.step(
      'show',
      ({ signal }) => showTurn(deps, { event, runId, signal }),
      RETRIES,
    )
    if (isOver) return
    runWatch.watch((await callers()).user(event.user, event.threadId), runId, lastEventId)
    const wake = await ctx.waitForEvent(wakeEventOf(runId), { timeout: waitMs })
    // A wake that comes between a look at the run and the next wait is missed, so soon after one the wait is short again.
    waitMs = wake === null ? Math.min(2 * waitMs, LONGEST_WAIT_MS) : FIRST_WAIT_MS
  }
}

interface ShownTurn {
  readonly event: MessageEvent
  readonly runId: string
  readonly signal: AbortSignal
}

interface TurnProgress {
  readonly isOver: boolean
  /** Id of the last event that is shown. */
  readonly lastEventId?: string | undefined
}

/** Shows the run until it ends or waits. */
async function showTurn(deps: HandleEventDeps, { event, runId, signal }: ShownTurn): Promise<TurnProgress> {
  const { chat, state, callers, updateIntervalMs, now, errorText } = deps
  const { user, threadId } = event
  const client = (await callers()).user(user, threadId)
  const posts = createPosts({ chat, state }, threadId)
  const answer = createAnswer(posts, state, runId)
  const look = await followTurn({ client, runId, answer, updateIntervalMs, now, signal })
  if (look.status === 'queued') return { isOver: false }
  await showApprovals({ chat, client, posts, user, threadId }, runId, () => answer.breakAt(look.text))
  await answer.show(withOutcome(look, runId, errorText))
  return { isOver: isTerminal(look.status), lastEventId: look.lastEventId }
}

function withOutcome({ status, text, error = status }: Look, runId: string, errorText: HandleEventDeps['errorText']) {
  if (status === 'failed') return `${text}\n\n${errorText(error, runId)}`
  return status === 'aborted' ? `${text}\n\n_Stopped._` : text
}

function showRefusal({ chat, state, errorText }: HandleEventDeps, event: MessageEvent, code: string): Promise<void> {
  const { threadId, messageId } = event
  const markdown = errorText(code)
  return createPosts({ chat, state }, threadId).show({
    ...{ name: `${threadId}:${messageId}:refused`, content: { markdown }, mark: markdown },
    isMarked: () => false,
  })
}
