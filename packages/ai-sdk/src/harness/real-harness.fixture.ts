import { HarnessAgent } from '@ai-sdk/harness/agent'
import { tool } from 'ai'
import { z } from 'zod'
import type { HarnessRegistration } from './harness-types.ts'

type Emit = (part: object) => void

interface Turn {
  readonly prompt: string
  /** Whether the turn has called the tool. */
  isAsked: boolean
  isOver: boolean
}

const USAGE = { inputTokens: { total: 3 }, outputTokens: { total: 2 } }

/** A runtime that works outside of the process, and so survives it: the state of its turns. */
function createRuntime() {
  return { turns: new Map<string, Turn[]>(), states: new Map<string, object>(), started: 0, continued: 0, deployed: 0 }
}

type Runtime = ReturnType<typeof createRuntime>

const SANDBOX = {
  description: 'none',
  run: async () => ({ exitCode: 0, stdout: '/tmp', stderr: '' }),
}

type Session = Awaited<ReturnType<HarnessAgent['createSession']>>

interface RealHarness {
  readonly agent: HarnessAgent
  readonly sessions: Pick<HarnessRegistration<Session>, 'openSession' | 'closeSession'>
  readonly runtime: Runtime
}

/** A `HarnessAgent` of the published package, whose adapter drives the runtime of this test. */
export function realHarness(): RealHarness {
  const runtime = createRuntime()
  const deploy = tool({
    inputSchema: z.object({ to: z.string() }),
    execute({ to }) {
      runtime.deployed++
      return `deployed to ${to}`
    },
  })
  const session = (sessionId: string, isResume: boolean) => {
    const turnsOf = () => runtime.turns.get(sessionId) ?? []
    /** Tells what the turn does until it waits. */
    const perform = (turn: Turn, emit: Emit) => {
      const { promise: result, resolve } = Promise.withResolvers<unknown>()
      const done = (async () => {
        emit({ type: 'stream-start', modelId: 'code-1' })
        let said = turn.prompt
        if (turn.prompt.includes('deploy')) {
          if (!turn.isAsked)
            emit({ type: 'tool-call', toolCallId: 'call-1', toolName: 'deploy', input: '{"to":"production"}' })
          turn.isAsked = true
          said = JSON.stringify(await result)
          emit({ type: 'finish-step', finishReason: { unified: 'tool-calls', raw: undefined }, usage: USAGE })
        }
        emit({ type: 'text-start', id: 't' })
        emit({ type: 'text-delta', id: 't', delta: `Done: ${said}` })
        emit({ type: 'text-end', id: 't' })
        const finishReason = { unified: 'stop', raw: undefined }
        emit({ type: 'finish-step', finishReason, usage: USAGE })
        emit({ type: 'finish', finishReason, totalUsage: USAGE })
        turn.isOver = true
      })()
      return { done, submitToolResult: async ({ output }: { readonly output: unknown }) => resolve(output) }
    }
    const state = (type: string) => ({ type, harnessId: 'fake', specificationVersion: 'harness-v1', data: {} })
    return {
      ...{ sessionId, isResume, doCompact: async () => undefined, doDestroy: async () => undefined },
      async doPromptTurn({ prompt, emit }: { readonly prompt: unknown; readonly emit: Emit }) {
        runtime.started++
        const text = JSON.stringify(prompt)
        const turn: Turn = { prompt: text.includes('deploy') ? 'deploy it' : 'fix it', isAsked: false, isOver: false }
        runtime.turns.set(sessionId, [...turnsOf(), turn])
        return perform(turn, emit)
      },
      async doContinueTurn({ emit }: { readonly emit: Emit }) {
        runtime.continued++
        return perform(turnsOf().at(-1) as Turn, emit)
      },
      doSuspendTurn: async () => state('continue-turn'),
      doDetach: async () => state('resume-session'),
      doStop: async () => state('resume-session'),
    }
  }
  const harness = {
    ...{ specificationVersion: 'harness-v1', harnessId: 'fake', builtinTools: {}, supportsBuiltinToolApprovals: true },
    doStart: async ({ sessionId, resumeFrom, continueFrom }: Readonly<Record<string, unknown>>) =>
      session(String(sessionId), resumeFrom !== undefined || continueFrom !== undefined),
  }
  const agent = new HarnessAgent({
    ...{ id: 'coder', harness, tools: { deploy }, toolApproval: { deploy: 'user-approval' } },
  } as never)
  const sessions = {
    openSession: ({ sessionId }: { readonly sessionId: string }) =>
      agent.createSession({ sessionId, resumeFrom: runtime.states.get(sessionId), sandboxSession: SANDBOX } as never),
    async closeSession(opened: Session, { sessionId }: { readonly sessionId: string }) {
      runtime.states.set(sessionId, await opened.detach())
    },
  }
  return { agent, sessions, runtime }
}
