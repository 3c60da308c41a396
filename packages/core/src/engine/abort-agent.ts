import type { RunStore, Visibility } from '@perdure/ports'
import { ACTIVE_RUN_STATUSES } from '@perdure/protocol'
import { type CommitOnceDeps, commitOnce } from '../idempotency/commit-once.ts'
import type { KeyedRequest } from '../idempotency/keyed-request.ts'
import type { Reply } from '../idempotency/reply.ts'
import { abortIfActive } from '../runs/abort-if-active.ts'
import type { AbortRun } from '../runs/abort-request.ts'
import { eachRun } from '../runs/each-run.ts'
import type { AgentRegistry } from '../targets/agent-registry.ts'

export interface AbortAgentDeps extends CommitOnceDeps {
  readonly agents: AgentRegistry
  readonly runs: RunStore
  readonly abortRun: AbortRun
}

export interface AbortAgentRequest {
  readonly agentId: string
  readonly reason?: string | undefined
  /** Which runs of the agent to abort. */
  readonly visibility: Visibility
  readonly key?: KeyedRequest | undefined
}

/** Aborts all active, visible runs of an agent. @throws PerdureError `agent-not-found` */
export type AbortAgent = (request: AbortAgentRequest) => Promise<Reply>

export function createAbortAgent(deps: AbortAgentDeps): AbortAgent {
  const { agents, runs, abortRun } = deps

  return async ({ agentId, reason, visibility, key }) => {
    agents.get(agentId)
    const aborted: string[] = []
    const filter = { kind: 'agent', targetId: agentId, statuses: ACTIVE_RUN_STATUSES } as const
    for await (const { id } of eachRun(runs, filter, { visibility, content: [] })) {
      if (await abortIfActive(abortRun, { runId: id, reason, visibility })) aborted.push(id)
    }
    // Aborting is idempotent without a key: the key only serves to store the answer.
    const reply: Reply = { status: 202, body: { aborted } }
    const once = await commitOnce(deps, key, async () => ({ writes: [], reply, remember: true }))
    return once.kind === 'replayed' ? once.reply : reply
  }
}
