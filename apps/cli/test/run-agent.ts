import { type AgentEvent, type AgentRegistration, codeOf, isGenerator, type RunContext } from '@perdure/core'
import { createLogger } from '@perdure/platform-node'

/** Runs an agent without a server and collects the events it yields. */
export async function runAgent(
  registration: AgentRegistration,
  input: unknown,
  signal: RunContext['signal'] = new AbortController().signal,
) {
  const events: AgentEvent[] = []
  const context: Partial<RunContext> = { runId: 'run_1', agentId: registration.id, signal, ...CONTEXT }
  const code = codeOf('agent', registration)
  if ('problem' in code) throw new Error(code.problem)
  const run = code.code(input, context as RunContext)
  if (!isGenerator(run)) return { events, result: await run }
  let step = await run.next()
  while (step.done !== true) {
    events.push(step.value as AgentEvent)
    step = await run.next()
  }
  return { events, result: step.value }
}

const CONTEXT = {
  sessionId: undefined,
  userId: undefined,
  attempt: 1,
  traceparent: undefined,
  metadata: {},
  emit: async () => undefined,
  log: createLogger({ level: 'silent' }),
} satisfies Partial<RunContext>
