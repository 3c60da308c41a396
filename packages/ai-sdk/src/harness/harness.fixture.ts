import { type ToolSet, tool } from 'ai'
import { z } from 'zod'
import type { Part } from '../model/model.ts'
import type { HarnessSession } from './harness-types.ts'

const deploy = tool({ inputSchema: z.object({ to: z.string() }) })

interface Turn {
  readonly prompt: string
  isApproved?: boolean
  /** Whether the session that has read the turn to its end was closed. */
  isOver: boolean
}

interface Session extends HarnessSession {
  readonly sessionId: string
}

/** A `HarnessAgent` whose runtime outlives the server, as a sandbox does. A prompt with `deploy` asks for an approval. */
export function fakeHarness({ canContinue = true } = {}) {
  const turns = new Map<string, Turn[]>()
  const closed: object[] = []
  let continued = 0

  async function* partsOf({ prompt, isApproved }: Turn): AsyncGenerator<Part> {
    yield { type: 'start-step' }
    if (prompt.includes('deploy') && isApproved === undefined) {
      const toolCall = { toolCallId: 'c1', toolName: 'deploy', input: { to: 'production' } }
      yield { type: 'tool-call', ...toolCall }
      yield { type: 'tool-approval-request', approvalId: 'a1', toolCall }
      return
    }
    if (isApproved !== undefined)
      yield { type: 'tool-result', toolCallId: 'c1', toolName: 'deploy', output: isApproved }
    yield { type: 'text-start', id: '1' }
    for (const text of ['Done: ', prompt]) yield { type: 'text-delta', id: '1', text }
    yield { type: 'text-end', id: '1' }
    const usage = { inputTokens: 3, outputTokens: 2 }
    yield { type: 'finish-step', usage, finishReason: 'stop', response: { modelId: 'code-1' } }
    yield { type: 'finish', totalUsage: usage, finishReason: 'stop' }
  }

  const isEnd = ({ prompt, isApproved }: Turn) => !prompt.includes('deploy') || isApproved !== undefined
  const lastOf = (sessionId: string) => turns.get(sessionId)?.at(-1)
  const read = new WeakSet<Session>()

  const streamed = (session: Session, turn: Turn) => {
    async function* watched() {
      yield* partsOf(turn)
      if (isEnd(turn)) read.add(session)
    }
    const text = `Done: ${turn.prompt}`
    return { stream: watched(), text: Promise.resolve(text), output: Promise.resolve(undefined) }
  }

  const agent = {
    ...{
      id: 'coder',
      harnessId: 'fake',
      hasOutput: false,
      tools: { deploy } as ToolSet,
    },
    async createSession({ sessionId = 'new' }: { readonly sessionId?: string } = {}): Promise<Session> {
      const session: Session = {
        sessionId,
        hasUnfinishedTurn: () => canContinue && !read.has(session) && lastOf(sessionId)?.isOver === false,
      }
      return session
    },
    async stream({
      session,
      messages,
    }: {
      readonly session: Session
      readonly messages: readonly { readonly content: readonly { readonly text: string }[] }[]
    }) {
      const prompt =
        messages
          .at(-1)
          ?.content.map(({ text }) => text)
          .join('') ?? ''
      const turn: Turn = { prompt, isOver: false }
      turns.set(session.sessionId, [...(turns.get(session.sessionId) ?? []), turn])
      return streamed(session, turn)
    },
    async continueStream({
      session,
      toolApprovalContinuations: [decision],
    }: {
      readonly session: Session
      readonly toolApprovalContinuations: readonly { readonly approved: boolean }[]
    }) {
      continued++
      const turn = lastOf(session.sessionId) as Turn
      if (decision !== undefined) turn.isApproved = decision.approved
      return streamed(session, turn)
    },
  }
  const sessions = {
    openSession: ({ sessionId }: { readonly sessionId: string }) => agent.createSession({ sessionId }),
    async closeSession(session: Session, call: object) {
      const turn = lastOf(session.sessionId)
      if (turn !== undefined && read.has(session)) turn.isOver = true
      closed.push({ ...call, session: session.sessionId })
    },
  }
  return {
    agent,
    sessions,
    closed,
    continued: () => continued,
    prompts: () => [...turns.values()].flat().map(({ prompt }) => prompt),
  }
}
