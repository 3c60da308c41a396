import { type AgentContext, type AgentEvent, type AgentRegistration, isGenerator } from '@perdure/core'
import { createLogger } from '@perdure/platform-node'

/** Runs an agent without a server and collects the events it yields. */
export async function runAgent(
  { agent }: AgentRegistration,
  input: unknown,
  signal: AgentContext['signal'] = new AbortController().signal,
) {
  const events: AgentEvent[] = []
  const context: Partial<AgentContext> = { runId: 'run_1', agentId: agent.id, signal, ...CONTEXT }
  const run = agent.run(input, context as AgentContext)
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
} satisfies Partial<AgentContext>
